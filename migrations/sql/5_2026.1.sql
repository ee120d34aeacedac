-- 2026.1 (29), and 30.0.0 without a change

-- step expand 742c857f1dfb after e8725d6fa226
create index ix_revocation_event_project_id_user_id on revocation_event (project_id, user_id);
create index ix_revocation_event_composite on revocation_event (issued_before, user_id, project_id, audit_id);
