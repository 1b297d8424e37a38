-- no transaction
-- Finds the referrals of a partner by the reference of the partner, newest first, of one status or of all three.
create index concurrently if not exists referral_by_reference
  on referral (account_id, external_reference, status, id)
  where external_reference is not null;
