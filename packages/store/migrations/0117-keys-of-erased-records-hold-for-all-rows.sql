-- Validates the bounds of 0116. Reads the table, and blocks no app. Its rows have no keys.

alter table person_erasure validate constraint person_erasure_record_key_bounds;
