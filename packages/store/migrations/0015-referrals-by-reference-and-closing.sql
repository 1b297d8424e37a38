-- no transaction
-- The same among referrals with one reference.
create index concurrently if not exists referral_by_reference_and_closing
  on referral (account_id, external_reference, status, closed_at, id)
  where external_reference is not null and closed_at is not null;
