-- The debts of rate limits, where [rate_limit] store = sql. Times are
-- microseconds of the server's clock, id is a keyed hash of who owes.

-- step rate_limit_1
-- on postgres
create unlogged table keystone_go_rate_limit (
-- on sqlite mariadb
create table keystone_go_rate_limit (
-- on all
    limiter varchar(160) not null,
    id varchar(32) not null,
    last bigint not null,
    debt bigint not null,
    rate bigint not null,
    period bigint not null,
    full_at bigint not null,
    constraint keystone_go_rate_limit_pkey primary key (limiter, id)
-- on postgres
) with (fillfactor = 60);
-- on sqlite
);
-- on mariadb
) default charset=ascii collate=ascii_bin;
