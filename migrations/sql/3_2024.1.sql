-- 2024.1 (25)

-- step expand 47147121 after 11c3b243b4cb
alter table mapping add column schema_version varchar(5) default '1.0' not null;
