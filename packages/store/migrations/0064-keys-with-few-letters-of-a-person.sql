-- Of a client whose name has few letters, `deedwire-operator person erase` deleted an idempotency key that had them by chance. Then a
-- repeated request created the referral again.
do $do$
begin
  execute replace($schema$
    -- Deletes the keys of a referral that contain its address or its name. Compares letters and digits only, and first lower-cases ASCII:
    -- in a Turkish locale, "I" is not a capital "i". If they are fewer than five, they have to be whole words: "partner-4711" contains
    -- "Art" too. Before begin_person_erasure(), which erases the results.
    create or replace function forget_keys_of_person(of_record_type text, of_record_id bigint) returns void
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      delete from {schema}.idempotency_key k
      using (
        select r.account_id, r.mutation, r.key, words, key_words, replace(words, ' ', '') as letters
        from {schema}.person_results(of_record_type, of_record_id) r,
          unnest(array[r.payload ->> 'clientEmail', r.payload ->> 'clientName']) t (text),
          btrim(regexp_replace(lower(lower(t.text collate "C") collate "default"), '[^[:alnum:]]+', ' ', 'g')) words,
          btrim(regexp_replace(lower(lower(r.key collate "C") collate "default"), '[^[:alnum:]]+', ' ', 'g')) key_words
      ) r
      where (k.account_id, k.mutation, k.key) = (r.account_id, r.mutation, r.key) and r.letters <> '' and case
        when length(r.letters) < 5 then format(' %s ', r.key_words) ~ format(' %s ', replace(r.words, ' ', ' ?'))
        else strpos(replace(r.key_words, ' ', ''), r.letters) > 0
      end
    $$;
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;
