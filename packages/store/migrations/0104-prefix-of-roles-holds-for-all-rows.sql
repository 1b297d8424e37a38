-- Validates the bounds of 0103. Reads the table, and blocks no app. Its row has the empty prefix.

alter table installation validate constraint installation_role_prefix_bounds;
