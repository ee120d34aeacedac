-- The schema of Zed (22), which Yoga and 2023.1 share: the oldest that is taken over.
-- How these files are read is told in ../steps.go.

-- step 27e647c0fad4

-- on mariadb
alter database default character set utf8;
-- on postgres
create type :assignment_type as enum ('UserProject', 'GroupProject', 'UserDomain', 'GroupDomain');
create type :entity_type as enum ('user', 'group');
-- on all

create table application_credential (
    internal_id :serial not null,
    id varchar(64) not null,
    name varchar(255) not null,
    secret_hash varchar(255) not null,
    description text,
    user_id varchar(64) not null,
    project_id varchar(64),
    expires_at bigint,
    system varchar(64),
    unrestricted boolean,
    primary key (internal_id),
    constraint duplicate_app_cred_constraint unique (user_id, name)
);

create table assignment (
    type :assignment_type not null,
    actor_id varchar(64) not null,
    target_id varchar(64) not null,
    role_id varchar(64) not null,
    inherited boolean not null,
    primary key (type, actor_id, target_id, role_id, inherited)
-- on sqlite
    , constraint fk_assignment_role_id foreign key (role_id) references role (id)
-- on all
);
create index ix_actor_id on assignment (actor_id);

create table access_rule (
    id :serial not null,
    service varchar(64),
    path varchar(128),
    method varchar(16),
    external_id varchar(64),
    user_id varchar(64),
    primary key (id),
    constraint access_rule_external_id_key unique (external_id),
    constraint duplicate_access_rule_for_user_constraint unique (user_id, service, path, method)
);
create index external_id on access_rule (external_id);
create index user_id on access_rule (user_id);

create table config_register (
    type varchar(64) not null,
    domain_id varchar(64) not null,
    primary key (type)
);

create table consumer (
    id varchar(64) not null,
    description varchar(64),
    secret varchar(64) not null,
    extra text not null,
    primary key (id)
);

create table credential (
    id varchar(64) not null,
    user_id varchar(64) not null,
    project_id varchar(64),
    type varchar(255) not null,
    extra text,
    key_hash varchar(64) not null,
    encrypted_blob text not null,
    primary key (id)
);

create table "group" (
    id varchar(64) not null,
    domain_id varchar(64) not null,
    name varchar(64) not null,
    description text,
    extra text,
    primary key (id),
    constraint ixu_group_name_domain_id unique (domain_id, name)
);

create table id_mapping (
    public_id varchar(64) not null,
    domain_id varchar(64) not null,
    local_id varchar(255) not null,
    entity_type :entity_type not null,
    primary key (public_id),
    constraint domain_id unique (domain_id, local_id, entity_type)
);

create table identity_provider (
    id varchar(64) not null,
    enabled boolean not null,
    description text,
    domain_id varchar(64) not null,
    authorization_ttl integer,
    primary key (id)
);

create table idp_remote_ids (
    idp_id varchar(64),
    remote_id varchar(255) not null,
    primary key (remote_id),
    foreign key (idp_id) references identity_provider (id) on delete cascade
);

create table mapping (
    id varchar(64) not null,
    rules text not null,
    primary key (id)
);

create table policy (
    id varchar(64) not null,
    type varchar(255) not null,
    "blob" text not null,
    extra text,
    primary key (id)
);

create table policy_association (
    id varchar(64) not null,
    policy_id varchar(64) not null,
    endpoint_id varchar(64),
    service_id varchar(64),
    region_id varchar(64),
    primary key (id),
    unique (endpoint_id, service_id, region_id)
);

create table project (
    id varchar(64) not null,
    name varchar(64) not null,
    extra text,
    description text,
    enabled boolean,
    domain_id varchar(64) not null,
    parent_id varchar(64),
    is_domain boolean default '0' not null,
    primary key (id),
    constraint ixu_project_name_domain_id unique (domain_id, name),
    constraint project_domain_id_fkey foreign key (domain_id) references project (id),
    constraint project_parent_id_fkey foreign key (parent_id) references project (id)
);

create table project_endpoint (
    endpoint_id varchar(64) not null,
    project_id varchar(64) not null,
    primary key (endpoint_id, project_id)
);

create table project_option (
    project_id varchar(64) not null,
    option_id varchar(4) not null,
    option_value text,
    primary key (project_id, option_id),
    foreign key (project_id) references project (id) on delete cascade
);

create table project_tag (
    project_id varchar(64) not null,
    name varchar(255) not null,
    primary key (project_id, name),
-- on mariadb
    unique (project_id, name),
-- on all
    foreign key (project_id) references project (id) on delete cascade
);

create table region (
    id varchar(255) not null,
    description varchar(255) not null,
    parent_region_id varchar(255),
    extra text,
    primary key (id)
);

create table registered_limit (
    id varchar(64) not null,
    service_id varchar(255),
    region_id varchar(64),
    resource_name varchar(255),
    default_limit integer not null,
    description text,
    internal_id :serial not null,
    primary key (internal_id),
    constraint registered_limit_id_key unique (id)
);

create table request_token (
    id varchar(64) not null,
    request_secret varchar(64) not null,
    verifier varchar(64),
    authorizing_user_id varchar(64),
    requested_project_id varchar(64) not null,
    role_ids text,
    consumer_id varchar(64) not null,
    expires_at varchar(64),
    primary key (id),
    foreign key (consumer_id) references consumer (id)
);
create index ix_request_token_consumer_id on request_token (consumer_id);

create table revocation_event (
    id :serial not null,
    domain_id varchar(64),
    project_id varchar(64),
    user_id varchar(64),
    role_id varchar(64),
    trust_id varchar(64),
    consumer_id varchar(64),
    access_token_id varchar(64),
    issued_before :timestamp not null,
    expires_at :timestamp,
    revoked_at :timestamp not null,
    audit_id varchar(32),
    audit_chain_id varchar(32),
    primary key (id)
);
create index ix_revocation_event_audit_id_issued_before on revocation_event (audit_id, issued_before);
create index ix_revocation_event_issued_before on revocation_event (issued_before);
create index ix_revocation_event_new_revoked_at on revocation_event (revoked_at);
create index ix_revocation_event_project_id_issued_before on revocation_event (project_id, issued_before);
create index ix_revocation_event_user_id_issued_before on revocation_event (user_id, issued_before);

create table role (
    id varchar(64) not null,
    name varchar(255) not null,
    extra text,
    domain_id varchar(64) default '<<null>>' not null,
    description varchar(255),
    primary key (id),
    constraint ixu_role_name_domain_id unique (name, domain_id)
);

create table role_option (
    role_id varchar(64) not null,
    option_id varchar(4) not null,
    option_value text,
    primary key (role_id, option_id),
    foreign key (role_id) references role (id) on delete cascade
);

create table sensitive_config (
    domain_id varchar(64) not null,
    "group" varchar(255) not null,
    "option" varchar(255) not null,
    value text not null,
    primary key (domain_id, "group", "option")
);

create table service (
    id varchar(64) not null,
    type varchar(255),
    enabled boolean default '1' not null,
    extra text,
    primary key (id)
);

create table service_provider (
    auth_url varchar(256) not null,
    id varchar(64) not null,
    enabled boolean not null,
    description text,
    sp_url varchar(256) not null,
    relay_state_prefix varchar(256) default 'ss:mem:' not null,
    primary key (id)
);

create table system_assignment (
    type varchar(64) not null,
    actor_id varchar(64) not null,
    target_id varchar(64) not null,
    role_id varchar(64) not null,
    inherited boolean not null,
    primary key (type, actor_id, target_id, role_id, inherited)
);

create table token (
    id varchar(64) not null,
    expires :timestamp,
    extra text,
    valid boolean not null,
    trust_id varchar(64),
    user_id varchar(64),
    primary key (id)
);
create index ix_token_expires on token (expires);
create index ix_token_expires_valid on token (expires, valid);
create index ix_token_trust_id on token (trust_id);
create index ix_token_user_id on token (user_id);

create table trust (
    id varchar(64) not null,
    trustor_user_id varchar(64) not null,
    trustee_user_id varchar(64) not null,
    project_id varchar(64),
    impersonation boolean not null,
    deleted_at :timestamp,
    expires_at :timestamp,
    remaining_uses integer,
    extra text,
    expires_at_int bigint,
    redelegated_trust_id varchar(64),
    redelegation_count integer,
    primary key (id),
    constraint duplicate_trust_constraint_expanded unique (trustor_user_id, trustee_user_id, project_id, impersonation, expires_at, expires_at_int)
);

create table trust_role (
    trust_id varchar(64) not null,
    role_id varchar(64) not null,
    primary key (trust_id, role_id)
);

create table "user" (
    id varchar(64) not null,
    extra text,
    enabled boolean,
    default_project_id varchar(64),
    created_at :timestamp,
    last_active_at date,
    domain_id varchar(64) not null,
    primary key (id),
    constraint ixu_user_id_domain_id unique (id, domain_id)
);
create index ix_default_project_id on "user" (default_project_id);

create table user_group_membership (
    user_id varchar(64) not null,
    group_id varchar(64) not null,
    primary key (user_id, group_id),
    constraint fk_user_group_membership_group_id foreign key (group_id) references "group" (id),
    constraint fk_user_group_membership_user_id foreign key (user_id) references "user" (id)
);
create index group_id on user_group_membership (group_id);

create table user_option (
    user_id varchar(64) not null,
    option_id varchar(4) not null,
    option_value text,
    primary key (user_id, option_id),
    foreign key (user_id) references "user" (id) on delete cascade
);

create table whitelisted_config (
    domain_id varchar(64) not null,
    "group" varchar(255) not null,
    "option" varchar(255) not null,
    value text not null,
    primary key (domain_id, "group", "option")
);

create table access_token (
    id varchar(64) not null,
    access_secret varchar(64) not null,
    authorizing_user_id varchar(64) not null,
    project_id varchar(64) not null,
    role_ids text not null,
    consumer_id varchar(64) not null,
    expires_at varchar(64),
    primary key (id),
    foreign key (consumer_id) references consumer (id)
);
create index ix_access_token_authorizing_user_id on access_token (authorizing_user_id);
create index ix_access_token_consumer_id on access_token (consumer_id);

create table application_credential_role (
    application_credential_id integer not null,
    role_id varchar(64) not null,
    primary key (application_credential_id, role_id),
    foreign key (application_credential_id) references application_credential (internal_id) on delete cascade
);

create table application_credential_access_rule (
    application_credential_id integer not null,
    access_rule_id integer not null,
    primary key (application_credential_id, access_rule_id),
    foreign key (application_credential_id) references application_credential (internal_id) on delete cascade,
    foreign key (access_rule_id) references access_rule (id) on delete cascade
);

create table endpoint (
    id varchar(64) not null,
    legacy_endpoint_id varchar(64),
    interface varchar(8) not null,
    service_id varchar(64) not null,
    url text not null,
    extra text,
    enabled boolean default '1' not null,
    region_id varchar(255),
    primary key (id),
    constraint endpoint_service_id_fkey foreign key (service_id) references service (id),
    constraint fk_endpoint_region_id foreign key (region_id) references region (id)
);
create index service_id on endpoint (service_id);

create table endpoint_group (
    id varchar(64) not null,
    name varchar(255) not null,
    description text,
    filters text not null,
    primary key (id)
);

create table expiring_user_group_membership (
    user_id varchar(64) not null,
    group_id varchar(64) not null,
    idp_id varchar(64) not null,
    last_verified :timestamp not null,
    primary key (user_id, group_id, idp_id),
    foreign key (user_id) references "user" (id),
    foreign key (group_id) references "group" (id),
    foreign key (idp_id) references identity_provider (id) on delete cascade
);

create table federation_protocol (
    id varchar(64) not null,
    idp_id varchar(64) not null,
    mapping_id varchar(64) not null,
    remote_id_attribute varchar(64),
    primary key (id, idp_id),
    foreign key (idp_id) references identity_provider (id) on delete cascade
);

create table implied_role (
    prior_role_id varchar(64) not null,
    implied_role_id varchar(64) not null,
    primary key (prior_role_id, implied_role_id),
    constraint implied_role_implied_role_id_fkey foreign key (implied_role_id) references role (id) on delete cascade,
    constraint implied_role_prior_role_id_fkey foreign key (prior_role_id) references role (id) on delete cascade
);

create table "limit" (
    id varchar(64) not null,
    project_id varchar(64),
    resource_limit integer not null,
    description text,
    internal_id :serial not null,
    registered_limit_id varchar(64),
    domain_id varchar(64),
    primary key (internal_id),
    constraint limit_id_key unique (id)
);

create table local_user (
    id :serial not null,
    user_id varchar(64) not null,
    domain_id varchar(64) not null,
    name varchar(255) not null,
    failed_auth_count integer,
    failed_auth_at :timestamp,
    primary key (id),
    unique (domain_id, name),
    unique (user_id),
    constraint local_user_user_id_fkey foreign key (user_id, domain_id) references "user" (id, domain_id) on update cascade on delete cascade
);

create table nonlocal_user (
    domain_id varchar(64) not null,
    name varchar(255) not null,
    user_id varchar(64) not null,
    primary key (domain_id, name),
    constraint ixu_nonlocal_user_user_id unique (user_id),
    constraint nonlocal_user_user_id_fkey foreign key (user_id, domain_id) references "user" (id, domain_id) on update cascade on delete cascade
);

create table password (
    id :serial not null,
    local_user_id integer not null,
    expires_at :timestamp,
    self_service boolean default '0' not null,
    password_hash varchar(255),
    created_at_int bigint default '0' not null,
    expires_at_int bigint,
    created_at :timestamp not null,
    primary key (id),
    foreign key (local_user_id) references local_user (id) on delete cascade
);

create table project_endpoint_group (
    endpoint_group_id varchar(64) not null,
    project_id varchar(64) not null,
    primary key (endpoint_group_id, project_id),
    foreign key (endpoint_group_id) references endpoint_group (id)
);

create table federated_user (
    id :serial not null,
    user_id varchar(64) not null,
    idp_id varchar(64) not null,
    protocol_id varchar(64) not null,
    unique_id varchar(255) not null,
    display_name varchar(255),
    primary key (id),
    unique (idp_id, protocol_id, unique_id),
    foreign key (user_id) references "user" (id) on delete cascade,
    foreign key (idp_id) references identity_provider (id) on delete cascade,
    constraint federated_user_protocol_id_fkey foreign key (protocol_id, idp_id) references federation_protocol (id, idp_id) on delete cascade
);

-- Leftovers of older releases that no trigger uses; they are part of the schema
-- that Python makes.
-- on postgres
create or replace function keystone_read_only_update() returns trigger language plpgsql as $$
begin
  if new.encrypted_blob is null or old.blob is null then
    raise exception 'Credential migration in progress. Cannot perform writes to credential table.';
  end if;
  return new;
end
$$;
create or replace function keystone_read_only_insert() returns trigger language plpgsql as $$
begin
  raise exception 'Identity provider migration in progress. Cannot insert new rows into the identity_provider table at this time.';
end
$$;
create or replace function update_federated_user_domain_id() returns trigger language plpgsql as $$
begin
  update "user"
  set domain_id = (select p.domain_id from identity_provider p where p.id = new.idp_id)
  where id = new.user_id and domain_id is null;
  return null;
end
$$;
create or replace function update_user_domain_id() returns trigger language plpgsql as $$
begin
  update "user"
  set domain_id = new.domain_id
  where id = new.user_id;
  return null;
end
$$;
-- on all

-- on mariadb
create index region_id on registered_limit (region_id);
create index registered_limit_id on "limit" (registered_limit_id);
create index domain_id on identity_provider (domain_id);
create index domain_id on "user" (domain_id);
-- on all

-- The hidden row that domains have for a domain.
insert into project (id, name, extra, description, enabled, domain_id, parent_id, is_domain)
values ('<<keystone.domain.root>>', '<<keystone.domain.root>>', '{}', '', '0', '<<keystone.domain.root>>', null, '1');

-- step expand 29e87d24a316 after 27e647c0fad4
-- step contract e25ffa003242 after 27e647c0fad4
