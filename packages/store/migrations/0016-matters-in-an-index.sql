-- no transaction
-- Contains what a page of referrals shows of their matters, so that it reads no rows of the table.
create unique index concurrently if not exists matter_by_referral
  on matter (referral_id) include (id, reference, opened_at);
