-- Bobcat (2023.2, 24). SQLite cannot change a constraint, so there a table is
-- built anew.

-- step expand b4f8b3f584e0 after 29e87d24a316
-- on postgres mariadb
alter table trust add constraint duplicate_trust_constraint
    unique (trustor_user_id, trustee_user_id, project_id, impersonation, expires_at);
-- on sqlite
create table keystone_go_new (
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
    constraint duplicate_trust_constraint_expanded unique (trustor_user_id, trustee_user_id, project_id, impersonation, expires_at, expires_at_int),
    constraint duplicate_trust_constraint unique (trustor_user_id, trustee_user_id, project_id, impersonation, expires_at)
);
insert into keystone_go_new (id, trustor_user_id, trustee_user_id, project_id, impersonation, deleted_at, expires_at, remaining_uses, extra, expires_at_int, redelegated_trust_id, redelegation_count)
select id, trustor_user_id, trustee_user_id, project_id, impersonation, deleted_at, expires_at, remaining_uses, extra, expires_at_int, redelegated_trust_id, redelegation_count
from trust;
drop table trust;
alter table keystone_go_new rename to trust;
-- on all

-- step expand 11c3b243b4cb after b4f8b3f584e0
-- on postgres mariadb
alter table service_provider alter column relay_state_prefix drop default;
-- on sqlite
create table keystone_go_new (
    auth_url varchar(256) not null,
    id varchar(64) not null,
    enabled boolean not null,
    description text,
    sp_url varchar(256) not null,
    relay_state_prefix varchar(256) not null,
    primary key (id)
);
insert into keystone_go_new (auth_url, id, enabled, description, sp_url, relay_state_prefix)
select auth_url, id, enabled, description, sp_url, relay_state_prefix
from service_provider;
drop table service_provider;
alter table keystone_go_new rename to service_provider;
-- on all

-- step contract 99de3849d860 after e25ffa003242
-- on postgres
alter table access_rule drop constraint access_rule_external_id_key;
alter table trust drop constraint duplicate_trust_constraint_expanded;
-- on mariadb
alter table access_rule drop index access_rule_external_id_key;
alter table trust drop index duplicate_trust_constraint_expanded;
-- on sqlite
create table keystone_go_new (
    id integer not null,
    service varchar(64),
    path varchar(128),
    method varchar(16),
    external_id varchar(64),
    user_id varchar(64),
    primary key (id),
    constraint duplicate_access_rule_for_user_constraint unique (user_id, service, path, method)
);
insert into keystone_go_new (id, service, path, method, external_id, user_id)
select id, service, path, method, external_id, user_id
from access_rule;
drop table access_rule;
alter table keystone_go_new rename to access_rule;
create index external_id on access_rule (external_id);
create index user_id on access_rule (user_id);
create table keystone_go_new (
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
    constraint duplicate_trust_constraint unique (trustor_user_id, trustee_user_id, project_id, impersonation, expires_at)
);
insert into keystone_go_new (id, trustor_user_id, trustee_user_id, project_id, impersonation, deleted_at, expires_at, remaining_uses, extra, expires_at_int, redelegated_trust_id, redelegation_count)
select id, trustor_user_id, trustee_user_id, project_id, impersonation, deleted_at, expires_at, remaining_uses, extra, expires_at_int, redelegated_trust_id, redelegation_count
from trust;
drop table trust;
alter table keystone_go_new rename to trust;
-- on all

-- MariaDB alone keeps a unique constraint beside a primary key of the same
-- columns. It has the one name or, from old releases, the other.
-- step contract c88cdce8f248 after 99de3849d860
-- on mariadb
alter table project_tag drop index project_id;
alter table project_tag drop index project_tag_project_id_key;
-- on all
