-- Builds before 0049 expect rights on it. Nothing has used it since.
-- squawk-ignore ban-drop-table: no build that starts beside this migration reads it
drop table cost_process;
