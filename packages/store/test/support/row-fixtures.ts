import { interfaceNamesOf, type Service } from '@deedwire/core';

export interface RowFixture {
  table: string;
  /** The interfaces that have rows in the table. A table without a column `interface` has them as a whole. */
  rowsOf: readonly string[];
  /** Inserts one row of the interface $1. Null if the migrations insert one. */
  insert: string | null;
  /** Whether the rows belong to a record of an interface. */
  isChild: boolean;
}

/** Of the last table into which a statement inserts. */
export function fixture(rowsOf: readonly string[], insert: string, isChild = true): RowFixture {
  return { table: /.*insert into (\w+)/s.exec(insert)?.[1] ?? '', rowsOf, insert, isChild };
}

// Every insert names its parent with the interface of $1: each table contains one row of each interface.
export const accountOfRow = `(select id from account where interface = $1::interface_name)`;
const apiClient = `(select id from api_client where interface = $1::interface_name)`;
const contact = `(select id from contact_email where interface = $1::interface_name)`;
const subscription = `(select id from webhook_subscription where interface = $1::interface_name)`;
const event = `(select id from webhook_event where interface = $1::interface_name)`;
const delivery = `(select id from webhook_delivery where interface = $1::interface_name)`;

/**
 * One row for each table of the schema. Parents come before their children.
 *
 * @param rows those of the tables of the service
 */
export function rowFixturesOf(service: Service, rows: readonly RowFixture[]): ReadonlyMap<string, RowFixture> {
  const names = interfaceNamesOf(service);
  const first = names.slice(0, 1);
  const ofEach = (insert: string) => fixture(names, insert);
  const ofFirst = (insert: string) => fixture(first, insert);
  /** A row of no record. */
  const shared = (insert: string) => fixture(first, insert, false);
  const migrated = (table: string): RowFixture => ({ table, rowsOf: first, insert: null, isChild: false });
  const fixtures: readonly RowFixture[] = [
    migrated('schema_migration'),
    shared(`insert into app_migration (name, checksum) values ($1::interface_name::text, 'x')`),
    shared(`insert into application_function (signature) values ($1::interface_name::text)`),
    migrated('interface'),
    migrated('own_table'),
    migrated('event_type'),
    migrated('person_table'),
    migrated('audit_action'),
    migrated('own_sequence'),
    migrated('shared_right'),
    migrated('shared_policy'),
    migrated('installation'),
    shared(`
    insert into cell_split (from_cell, to_cell, organization_ids, standbys)
    select 0, 5, '{}', '{}' where $1::text is not null`),
    shared(`insert into organization (name) select $1::interface_name::text`),
    {
      ...ofEach(`
    insert into account (interface, organization_id, name)
    values ($1, (select id from organization), 'Account')`),
      isChild: false,
    },
    ofFirst(`insert into account_home (account_id, cell) values (${accountOfRow}, 0)`),
    // After all accounts, and of an organization without any: it refuses them.
    {
      ...shared(`
    with other as (insert into organization (name) values ($1) returning id)
    insert into organization_home (organization_id, cell) select id, 5 from other`),
      rowsOf: names.slice(-1),
    },
    shared(`insert into foreign_partition (name, pages) select $1, 0`),
    ...rows,
    // The trigger of portal_session would create another one.
    ofEach(`
    insert into api_client (account_id, interface, client_id, schema_version)
    values (${accountOfRow}, $1, 'portal_' || $1::interface_name || '_' || ${accountOfRow}, '2026-11-01')`),
    ofEach(`
    insert into api_key (key_id, api_client_id, interface, key_hash)
    values ($1::interface_name::text, ${apiClient}, $1, decode(repeat('00', 32), 'hex'))`),
    ofEach(`
    insert into portal_session (account_id, interface, key_id, abilities, actor, link_hash, expires_at)
    values (${accountOfRow}, $1, $1::interface_name::text, '{READ}', 'a', sha256($1::interface_name::text::bytea), now() + interval '5 minutes')`),
    ofEach(`insert into contact_email (account_id, interface, email) values (${accountOfRow}, $1, 'ada@a.test')`),
    ofEach(`
    insert into contact_confirmation (account_id, interface, address_hash)
    values (${accountOfRow}, $1, contact_address_hash('ada@a.test'))`),
    ofEach(`
    insert into contact_token (token_hash, contact_id, account_id, interface, expires_at)
    values (sha256($1::interface_name::text::bytea), ${contact}, ${accountOfRow}, $1, now() + interval '1 day')`),
    ofEach(`
    insert into contact_mail (contact_id, account_id, interface, subject)
    values (${contact}, ${accountOfRow}, $1, 'CONFIRMATION')`),
    // The trigger of api_client inserts the buckets.
    { table: 'cost_bucket', rowsOf: names, insert: null, isChild: true },
    shared(`
    insert into app_contracts (digest, app, contracts)
    values (repeat('0', 64), $1::interface_name || '-api', '{}')`),
    shared(`
    insert into app_process (id, app, version, started_at, last_seen_at)
    values (gen_random_uuid(), $1::interface_name || '-api', '0.0.0', now(), now())`),
    ofEach(`
    insert into interface_use (api_client_id, interface, day, version, coordinate, count)
    values (${apiClient}, $1, now(), '2026-11-01', '', 1)`),
    shared(`
    insert into counted_coordinates (app, digest, coordinates)
    values ($1::interface_name || '-api', encode(sha256(''), 'hex'), '')`),
    shared(`
    insert into use_counting (app, process_id, coordinates, counted_from, counted_until, recorded_at, seen_at, state)
    values ($1::interface_name || '-api', gen_random_uuid(), '', now(), now(), now(), now(), 'OPEN')`),
    ofEach(`
    insert into idempotency_key (account_id, interface, mutation, key, input_hash, claim, claimed_until)
    values (${accountOfRow}, $1, 'm', 'k', '', gen_random_uuid(), now())`),
    ofEach(`
    insert into webhook_subscription (account_id, interface, callback_url, secret_ciphertext, queue_position)
    values (${accountOfRow}, $1, 'https://a.test/', '', 0)`),
    ofEach(`
    insert into webhook_subscription_event_type (subscription_id, interface, event_type, event_version)
    values (${subscription}, $1, 'order.placed', '2026-11-01')`),
    ofEach(`insert into webhook_subscription_sequence (subscription_id, interface) values (${subscription}, $1)`),
    ofFirst(`
    insert into webhook_receiver_state (subscription_id, url_number, consecutive_failures, breaker_probes)
    values (${subscription}, 1, 0, 0)`),
    ofFirst(`insert into webhook_subscription_episode (subscription_id) values (${subscription})`),
    ofFirst(
      `insert into webhook_deleted_backlog (account_id, subscription_id) values (${accountOfRow}, ${subscription})`,
    ),
    ofEach(`
    insert into webhook_handshake_count (account_id, interface, minute, handshakes)
    values (${accountOfRow}, $1, now(), 1)`),
    ofEach(`
    insert into webhook_event (account_id, interface, event_type, snapshot)
    values (${accountOfRow}, $1, 'order.placed', '{}')`),
    ofEach(`insert into webhook_event_queue (account_id, interface, event_id) values (${accountOfRow}, $1, ${event})`),
    ofEach(`
    insert into webhook_payload (event_id, event_version, interface, body)
    values (${event}, '2026-11-01', $1, '')`),
    ofEach(`
    insert into webhook_delivery
    (account_id, subscription_id, interface, event_id, event_type, event_version, occurred_at, sequence)
    values (${accountOfRow}, ${subscription}, $1, ${event}, 'order.placed', '2026-11-01', now(), 1)`),
    ofEach(`
    insert into webhook_pending_delivery
    (subscription_id, delivery_id, account_id, interface, event_id, event_type, event_version, occurred_at, sequence,
    due_at, body_bytes)
    values (${subscription}, ${delivery}, ${accountOfRow}, $1, ${event}, 'order.placed', '2026-11-01', now(), 1, now(), 0)`),
    ofEach(`
    insert into webhook_failed_delivery (subscription_id, delivery_id, interface)
    values (${subscription}, ${delivery}, $1)`),
    ofEach(`
    insert into person_erasure (record_type, record_id, account_id, interface)
    values ('Order', ${accountOfRow}, ${accountOfRow}, $1)`),
    ofFirst(`
    insert into webhook_failure_to_report (subscription_id, delivery_id)
    values (${subscription}, ${delivery})`),
    ofEach(`
    insert into webhook_attempt (delivery_id, number, subscription_id, interface, started_at, duration_ms)
    values (${delivery}, 1, ${subscription}, $1, now(), 1)`),
    ofEach(`
    insert into webhook_replay
    (account_id, interface, subscription_id, only_failed, per_second, from_id, until_id, last_id)
    values (${accountOfRow}, $1, ${subscription}, true, 50, 0, 1, 0)`),
    ofEach(`
    insert into webhook_exchange
    (delivery_id, number, started_at, subscription_id, interface, url_number, request_headers, response_headers, body_bytes)
    values (${delivery}, 1, now(), ${subscription}, $1, 1, '{}', '{}', 0)`),
    ofEach(`
    insert into webhook_hour_statistics (subscription_id, hour, counter_id, interface, delivered, failed_attempts, failed)
    values (${subscription}, date_trunc('hour', now()), 1, $1, 0, 0, 0)`),
    migrated('webhook_retention'),
    shared(`insert into webhook_worker (name, leased_until) values ($1::interface_name::text, now())`),
    migrated('webhook_shard'),
    ofEach(`
    insert into audit_entry (actor_type, actor, action, subject, account_id, interface)
    values ('CLIENT', 'client', 'order.place', 'gid', ${accountOfRow}, $1)`),
  ];
  return new Map(fixtures.map((each) => [each.table, each]));
}
