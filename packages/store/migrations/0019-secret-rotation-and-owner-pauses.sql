-- Rotations of webhook secrets, and pauses by the owner of a subscription. Apps of earlier releases ignore these columns: they
-- sign with the old secret only, also between the end of a rotation and its completion.

alter table webhook_subscription
  -- The secret that replaces secret_ciphertext when the rotation ends, encrypted as that one. Null outside of a rotation, as are
  -- both times.
  add column next_secret_ciphertext bytea,
  add column rotation_started_at timestamptz(3),
  add column rotation_ends_at timestamptz(3),
  -- Since when the owner keeps the subscription paused, also while another reason is the one that is shown. Without meaning
  -- while the subscription is not paused.
  add column owner_paused_at timestamptz(3);

-- Serves webhook_end_rotations(). Few rows.
create index webhook_subscription_by_end_of_rotation on webhook_subscription (rotation_ends_at)
  where rotation_ends_at is not null;

do $do$
begin
  execute replace($schema$
    -- Completes up to `batch` rotations that have ended. An API of an earlier release deletes a subscription without erasing its
    -- new secret.
    create function webhook_end_rotations(batch int) returns bigint
    language sql
    security definer
    set search_path = pg_catalog, pg_temp
    as $$
      with ended as (
        select id
        from {schema}.webhook_subscription
        where rotation_ends_at is not null and (rotation_ends_at <= now() or deleted_at is not null)
        order by rotation_ends_at
        limit batch
        for no key update skip locked
      ), completed as (
        update {schema}.webhook_subscription s
        set secret_ciphertext = case when s.deleted_at is null then s.next_secret_ciphertext else '' end,
          next_secret_ciphertext = null, rotation_started_at = null, rotation_ends_at = null
        from ended e
        where s.id = e.id
        returning 1
      )
      select count(*) from completed
    $$
  $schema$, '{schema}', quote_ident(current_schema()));
end
$do$;

revoke execute on function webhook_end_rotations from public;
grant execute on function webhook_end_rotations to webhook_worker;

-- A stronger reason remembers the pause by the owner that it replaces.
grant update (owner_paused_at) on webhook_subscription to webhook_worker;
-- `deedwire-operator subscription`, and `secrets rewrap`.
grant update (next_secret_ciphertext, rotation_started_at, rotation_ends_at, paused_reason, paused_at, owner_paused_at, url_number)
  on webhook_subscription to operator;
