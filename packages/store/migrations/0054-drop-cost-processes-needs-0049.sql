-- Builds before 0049 expect rights on it. Nothing has used it since, so no build that starts beside this migration reads it.
-- squawk-ignore ban-drop-table
drop table cost_process;
