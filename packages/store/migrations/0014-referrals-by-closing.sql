-- no transaction
-- Lists the referrals of a partner in the order in which they were closed.
create index concurrently if not exists referral_by_closing
  on referral (account_id, status, closed_at, id)
  where closed_at is not null;
