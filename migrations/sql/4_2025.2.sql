-- 2025.2 (28)

-- step expand e8725d6fa226 after 47147121
create index idx_project_id on project_endpoint_group (project_id);
