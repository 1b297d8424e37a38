-- Which addresses `lower()` takes for the same depends on the locale of the database: "INFO@" is not "info@" in Turkish, nor "É" "é" in
-- C. The apps compare the addresses of an account while they lock it, so the index keeps out only what is written alike.
-- The table is locked for as long as a rename takes, which the next statement needs too.
-- squawk-ignore require-concurrent-index-deletion
drop index team_member_email;
alter index team_member_address rename to team_member_email;
