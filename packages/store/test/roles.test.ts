import { interfaceNames, roleOf } from '@deedwire/domain';
import type { Connection } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { createStore, type GroupRole, groupRoles as roles } from '../src/index.ts';
import { createMigratedDatabase } from './support/database.ts';
import { openLogins } from './support/logins.ts';

const login = (role: GroupRole): Connection => logins.of(role);

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const logins = await forFile(openLogins(database));

test.each<[GroupRole, string]>([
  ['lender_api', 'select * from referral'],
  ['lender_api', 'select * from matter'],
  ['lender_api', 'update team_member set email = null'],
  ['lender_api', 'select * from organization'],
  ['lender_api', 'update webhook_receiver_state set hold_until = null'],
  ['partner_api', 'select * from webhook_worker'],
  ['partner_api', 'select * from webhook_shard'],
  ['partner_api', 'select * from team_member'],
  ['partner_api', `update referral set status = 'CONVERTED'`],
  ['partner_api', 'insert into matter (referral_id, reference) values (1, $$M$$)'],
  ['partner_api', 'update api_key set revoked_at = null'],
  ['partner_api', `insert into api_key (key_id) values ('k')`],
  ['partner_api', `update account set name = 'x'`],
  ['lender_api', 'select * from audit_entry'],
  ['partner_api', 'select delete_expired_idempotency_keys(1)'],
  ['operator', 'update audit_entry set actor = $$x$$'],
  ['operator', 'delete from audit_entry'],
  ['operator', 'truncate audit_entry'],
  ['operator', 'delete from audit_entry_default'],
  ['operator', 'insert into audit_entry (login) values ($$x$$)'],
  ['operator', 'insert into audit_entry (at) values (now())'],
  ['webhook_worker', 'select * from audit_entry'],
  ['webhook_worker', 'select * from referral'],
  ['webhook_worker', 'select * from team_member'],
  ['webhook_worker', 'select * from account'],
  ['webhook_worker', 'select * from api_key'],
  ['webhook_worker', 'select * from idempotency_key'],
  ['webhook_worker', `update webhook_subscription set callback_url = 'https://b.test/'`],
  ['webhook_worker', `update webhook_subscription set secret_ciphertext = ''`],
  ['webhook_worker', 'update webhook_subscription set last_read_at = now()'],
  ['webhook_worker', `update webhook_subscription set kind = 'PUSH'`],
  ['webhook_worker', 'select webhook_delete_listener(1)'],
  ['lender_api', 'select webhook_delete_listener(1)'],
  ['partner_api', 'select webhook_delete_unread_listeners(1)'],
  ['operator', 'select webhook_delete_unread_listeners(1)'],
  ['operator', `update webhook_subscription set kind = 'PUSH'`],
  ['partner_api', 'update account set webhook_listeners_forbidden_at = null'],
  ['webhook_worker', 'update account set webhook_listeners_forbidden_at = null'],
  ['webhook_worker', 'select * from webhook_exchange'],
  ['operator', `update webhook_payload set body = ''`],
  ['operator', 'delete from webhook_exchange'],
  ['operator', `update webhook_subscription set callback_url = ''`],
  ['operator', 'delete from webhook_delivery'],
  ['operator', 'select payload from idempotency_key'],
  ['operator', `update idempotency_key set record_id = 1`],
  ['operator', `delete from idempotency_key`],
  ['operator', `update webhook_subscription set callback_url = 'https://b.test/'`],
  ['operator', 'delete from api_key'],
  ['operator', 'delete from referral'],
  ...roles.flatMap((role): [GroupRole, string][] => [
    [role, `insert into schema_migration (name, checksum) values ('x', 'x')`],
  ]),
  // The worker creates partitions.
  ...([...interfaceNames.map(roleOf), 'operator'] as const).map((role): [GroupRole, string] => [
    role,
    'create table x ()',
  ]),
])('%s is denied: %s', async (role, statement) => {
  await expect(login(role).run(statement)).rejects.toThrow('permission denied');
});

// Every change of the rights of an app must change this list.
test('grants each app exactly these rights', async () => {
  const rows = await superuser.query<{ role: string; grant: string }>(
    {
      name: 'grants',
      text: `
        with grants as (
          select c.relname, null::name as attname, x.grantee, x.privilege_type
          from pg_class c, aclexplode(c.relacl) x
          where c.relnamespace = 'public'::regnamespace
          union all
          select c.relname, a.attname, x.grantee, x.privilege_type
          from pg_attribute a join pg_class c on c.oid = a.attrelid, aclexplode(a.attacl) x
          where c.relnamespace = 'public'::regnamespace
        ),
        lines as (
          select r.rolname,
            g.relname || ': ' || string_agg(
              lower(g.privilege_type) || coalesce('(' || g.attname || ')', ''), ' ' order by g.privilege_type, g.attname
            ) as line
          from grants g join pg_roles r on r.oid = g.grantee
          where r.rolname in ('lender_api', 'partner_api', 'webhook_worker', 'operator')
          group by r.rolname, g.relname
        )
        select rolname as role, string_agg(line, e'\\n' order by line) as grant from lines group by rolname order by rolname`,
    },
    [],
  );
  expect(Object.fromEntries(rows.map(({ role, grant }) => [role, grant.split('\n')]))).toMatchInlineSnapshot(`
    {
      "lender_api": [
        "account: select",
        "account_away: select",
        "account_home: select",
        "api_client: select",
        "api_key: select update(last_used_at)",
        "audit_entry: insert(account_id) insert(action) insert(actor) insert(actor_type) insert(address) insert(details) insert(interface) insert(request_id) insert(subject)",
        "audit_entry_number: usage",
        "cost_bucket: select update(points) update(settled_at)",
        "idempotency_key: delete insert select update",
        "portal_session: insert(abilities) insert(account_id) insert(actor) insert(expires_at) insert(interface) insert(key_id) insert(link_hash) insert(return_url) insert(subscription_id) select update(expires_at) update(last_used_at) update(started_at) update(token_hash)",
        "record_number: usage",
        "schema_migration: select",
        "team_member: select",
        "webhook_attempt: select",
        "webhook_delivery: select",
        "webhook_event: insert(account_id) insert(event_type) insert(id) insert(interface) insert(is_test) insert(record_id) insert(request_id) insert(snapshot) select",
        "webhook_event_queue: insert(account_id) insert(event_id) insert(interface) insert(subscription_id)",
        "webhook_exchange: select",
        "webhook_failed_delivery: select",
        "webhook_handshake_count: delete insert select update",
        "webhook_hour_statistics: select",
        "webhook_payload: select",
        "webhook_pending_delivery: select",
        "webhook_queue_position: select usage",
        "webhook_receiver_state: select",
        "webhook_replay: insert(account_id) insert(delivery_id) insert(event_types) insert(from_id) insert(from_sequence) insert(interface) insert(last_id) insert(only_failed) insert(per_second) insert(subscription_id) insert(until_id) insert(until_sequence) select update(cancelled_at)",
        "webhook_retention: select",
        "webhook_subscription: insert select update(callback_url) update(deleted_at) update(hastened_at) update(last_read_at) update(name) update(next_secret_ciphertext) update(owner_paused_at) update(paused_at) update(paused_reason) update(rotation_ends_at) update(rotation_started_at) update(secret_ciphertext) update(send_pending_at) update(url_number)",
        "webhook_subscription_event_type: delete insert select",
        "webhook_subscription_sequence: insert(interface) insert(subscription_id) select",
      ],
      "operator": [
        "account: insert select update(name) update(webhook_listeners_forbidden_at)",
        "account_away: select",
        "account_home: select",
        "api_client: insert select update(cost_maximum) update(cost_restore_rate) update(schema_version)",
        "api_key: insert select update(expires_at) update(revoked_at)",
        "app_contracts: select",
        "app_process: select",
        "audit_entry: insert(account_id) insert(action) insert(actor) insert(actor_type) insert(address) insert(details) insert(interface) insert(request_id) insert(subject) select",
        "audit_entry_number: usage",
        "cell_split: select",
        "idempotency_key: select(account_id) select(interface) select(key) select(mutation) select(record_id) select(secret_ciphertext) update(secret_ciphertext)",
        "installation: select(cell) select(installation_id)",
        "interface_use: select",
        "matter: insert select",
        "matter_number: usage",
        "organization: insert select",
        "organization_home: select",
        "person_erasure: select",
        "portal_session: insert(abilities) insert(account_id) insert(actor) insert(expires_at) insert(interface) insert(key_id) insert(link_hash) insert(return_url) insert(subscription_id) select update(expires_at)",
        "record_number: usage",
        "referral: insert select update",
        "schema_migration: select",
        "team_member: delete insert select update",
        "use_counting: select",
        "webhook_attempt: select",
        "webhook_deleted_backlog: select",
        "webhook_delivery: select",
        "webhook_event: insert(account_id) insert(event_type) insert(id) insert(interface) insert(is_test) insert(record_id) insert(request_id) insert(snapshot) select",
        "webhook_event_queue: insert(account_id) insert(event_id) insert(interface) insert(subscription_id) select",
        "webhook_exchange: select",
        "webhook_failed_delivery: select",
        "webhook_hour_statistics: select",
        "webhook_payload: select",
        "webhook_pending_delivery: select",
        "webhook_queue_position: select usage",
        "webhook_receiver_state: select",
        "webhook_replay: insert(account_id) insert(delivery_id) insert(event_types) insert(from_id) insert(from_sequence) insert(interface) insert(last_id) insert(only_failed) insert(per_second) insert(subscription_id) insert(until_id) insert(until_sequence) select update(cancelled_at)",
        "webhook_retention: select",
        "webhook_shard: select",
        "webhook_subscription: select update(hastened_at) update(next_secret_ciphertext) update(owner_paused_at) update(paused_at) update(paused_reason) update(rotation_ends_at) update(rotation_started_at) update(secret_ciphertext) update(send_pending_at) update(url_number)",
        "webhook_subscription_episode: select",
        "webhook_subscription_event_type: select",
        "webhook_subscription_sequence: select",
        "webhook_worker: select",
      ],
      "partner_api": [
        "account: select",
        "account_away: select",
        "account_home: select",
        "api_client: select",
        "api_key: select update(last_used_at)",
        "audit_entry: insert(account_id) insert(action) insert(actor) insert(actor_type) insert(address) insert(details) insert(interface) insert(request_id) insert(subject)",
        "audit_entry_number: usage",
        "cost_bucket: select update(points) update(settled_at)",
        "idempotency_key: delete insert select update",
        "matter: select",
        "portal_session: insert(abilities) insert(account_id) insert(actor) insert(expires_at) insert(interface) insert(key_id) insert(link_hash) insert(return_url) insert(subscription_id) select update(expires_at) update(last_used_at) update(started_at) update(token_hash)",
        "record_number: usage",
        "referral: insert select",
        "schema_migration: select",
        "webhook_attempt: select",
        "webhook_delivery: select",
        "webhook_event: insert(account_id) insert(event_type) insert(id) insert(interface) insert(is_test) insert(record_id) insert(request_id) insert(snapshot) select",
        "webhook_event_queue: insert(account_id) insert(event_id) insert(interface) insert(subscription_id)",
        "webhook_exchange: select",
        "webhook_failed_delivery: select",
        "webhook_handshake_count: delete insert select update",
        "webhook_hour_statistics: select",
        "webhook_payload: select",
        "webhook_pending_delivery: select",
        "webhook_queue_position: select usage",
        "webhook_receiver_state: select",
        "webhook_replay: insert(account_id) insert(delivery_id) insert(event_types) insert(from_id) insert(from_sequence) insert(interface) insert(last_id) insert(only_failed) insert(per_second) insert(subscription_id) insert(until_id) insert(until_sequence) select update(cancelled_at)",
        "webhook_retention: select",
        "webhook_subscription: insert select update(callback_url) update(deleted_at) update(hastened_at) update(last_read_at) update(name) update(next_secret_ciphertext) update(owner_paused_at) update(paused_at) update(paused_reason) update(rotation_ends_at) update(rotation_started_at) update(secret_ciphertext) update(send_pending_at) update(url_number)",
        "webhook_subscription_event_type: delete insert select",
        "webhook_subscription_sequence: insert(interface) insert(subscription_id) select",
      ],
      "webhook_worker": [
        "account_away: select",
        "account_home: select",
        "record_number: usage",
        "schema_migration: select",
        "webhook_attempt: insert select",
        "webhook_deleted_backlog: delete insert select",
        "webhook_delivery: insert select update(sequence)",
        "webhook_event: insert select",
        "webhook_event_queue: delete insert select update",
        "webhook_exchange: insert",
        "webhook_failed_delivery: delete insert select update",
        "webhook_failure_to_report: insert select",
        "webhook_hour_statistics: delete insert select update",
        "webhook_payload: insert select",
        "webhook_pending_delivery: delete insert select update",
        "webhook_queue_position: select usage",
        "webhook_receiver_state: delete insert select update",
        "webhook_replay: delete select update(ended_at) update(last_id) update(queued) update(skipped) update(skipped_pending)",
        "webhook_retention: select update",
        "webhook_shard: select update",
        "webhook_subscription: select update(hastened_at) update(owner_paused_at) update(paused_at) update(paused_reason)",
        "webhook_subscription_episode: select",
        "webhook_subscription_event_type: select",
        "webhook_subscription_sequence: select update",
        "webhook_worker: delete insert select update",
      ],
    }
  `);
});
