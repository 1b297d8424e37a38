-- no transaction
-- Serves delete_old_use().
create index concurrently if not exists use_counting_by_coordinates
  on use_counting (coordinates_id);
