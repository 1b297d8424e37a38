-- Builds before 0049 expect rights on it. Nothing has used it since.
drop table cost_process;
