-- The unique index matter_by_referral takes its place.
alter table matter drop constraint matter_referral_id_key;
