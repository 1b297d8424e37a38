-- Validates the bounds of 0069. Reads the table, and blocks no app.

alter table cost_bucket
  validate constraint cost_bucket_points_bounds,
  validate constraint cost_bucket_settled_at_bounds;
