-- `deedwire-operator secrets rewrap` replaces ciphertexts of webhook secrets by those of another key. The operator's login can
-- read and replace ciphertexts. It contains no key, so it cannot decrypt them.

grant update (secret_ciphertext) on webhook_subscription to operator;

-- Not the payloads: they contain personal data.
grant select (account_id, interface, mutation, key, secret_ciphertext, record_id), update (secret_ciphertext)
  on idempotency_key to operator;
create policy operator_select on idempotency_key for select to operator using (true);
create policy operator_update on idempotency_key for update to operator using (true);
