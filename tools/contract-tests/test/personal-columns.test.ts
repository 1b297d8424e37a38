import { testService } from '@deedwire/core/test-service';
import { createMigratedDatabase } from '@deedwire/dev-environment/harness';
import { connect } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { readTextColumns } from './support/text-columns.ts';

// Whether `person erase` has to erase a column. A new column that can hold text belongs to one of these lists.

/** Holds what identifies a person of a record. `person-erase.test.ts` looks for it. */
const erased = [
  'customer_order.buyer_email',
  'customer_order.note',
  'idempotency_key.input_hash',
  'idempotency_key.key',
  'idempotency_key.payload',
  'webhook_event.snapshot',
  'webhook_exchange.body',
  'webhook_exchange.request_headers',
  'webhook_exchange.response_headers',
  'webhook_payload.body',
];

/** A name, an address of a network or an id that someone else chose: docs/operations/accounts.md says that the command does not reach it. */
const notReached = [
  'account.name',
  'api_key.created_by_actor',
  'api_key.name',
  'audit_entry.actor',
  'audit_entry.address',
  'audit_entry.details',
  'audit_entry.request_id',
  'organization.name',
  'portal_session.actor',
  'portal_session.return_url',
  'webhook_event.request_id',
  'webhook_exchange.callback_url',
  'webhook_pending_delivery.request_id',
  'webhook_subscription.callback_url',
  'webhook_subscription.name',
  'webhook_subscription.request_header_name',
  'webhook_subscription.request_header_origin',
];

/** Enumerations, versions, digests, ciphertexts, and ids that Deedwire drew. */
const withoutPersons = [
  'api_client.client_id',
  'api_client.schema_version',
  'api_key.abilities',
  'api_key.created_by_key',
  'api_key.key_hash',
  'api_key.key_id',
  'api_key.last_used_version',
  'api_key.replaced_by',
  'app_contracts.app',
  'app_contracts.contracts',
  'app_contracts.digest',
  'app_migration.checksum',
  'app_migration.name',
  'app_process.app',
  'app_process.digest',
  'app_process.id',
  'app_process.version',
  'audit_action.action',
  'audit_entry.action',
  'audit_entry.actor_type',
  'audit_entry.login',
  'audit_entry.subject',
  'audit_entry.transaction_id',
  'cell_split.freeze_lsn',
  'cell_split.id',
  'cell_split.standbys',
  'counted_coordinates.app',
  'counted_coordinates.coordinates',
  'counted_coordinates.digest',
  'customer_order.item',
  'event_type.addresses',
  'event_type.persons',
  'event_type.record_type',
  'event_type.required',
  'event_type.type',
  'foreign_partition.name',
  'idempotency_key.claim',
  'idempotency_key.mutation',
  'idempotency_key.secret_ciphertext',
  'installation.installation_id',
  'interface.account_type',
  'interface_use.coordinate',
  'interface_use.version',
  'person_erasure.record_type',
  'person_table.addresses',
  'person_table.columns',
  'person_table.known_by',
  'person_table.record_type',
  'person_table.relation',
  'portal_session.abilities',
  'portal_session.invited_abilities',
  'portal_session.key_id',
  'portal_session.link_hash',
  'portal_session.token_hash',
  'own_sequence.column_name',
  'own_sequence.relation',
  'own_sequence.sequence',
  'own_table.column_name',
  'own_table.parent',
  'own_table.relation',
  'schema_migration.checksum',
  'schema_migration.name',
  'shared_policy.name',
  'shared_policy.relation',
  'shared_policy.words',
  'shared_right.words',
  'use_counting.app',
  'use_counting.coordinates',
  'use_counting.process_id',
  'use_counting.state',
  'webhook_attempt.detail',
  'webhook_attempt.error',
  'webhook_delivery.event_type',
  'webhook_delivery.event_version',
  'webhook_event.event_type',
  'webhook_event_queue.blocked_on',
  'webhook_exchange.remote_address',
  'webhook_payload.event_version',
  'webhook_pending_delivery.event_type',
  'webhook_pending_delivery.event_version',
  'webhook_replay.event_types',
  'webhook_subscription.kind',
  'webhook_subscription.next_secret_ciphertext',
  'webhook_subscription.paused_reason',
  'webhook_subscription.request_header_ciphertext',
  'webhook_subscription.secret_ciphertext',
  'webhook_subscription_episode.paused_reason',
  'webhook_subscription_episode.state',
  'webhook_subscription_event_type.event_type',
  'webhook_subscription_event_type.event_version',
  'webhook_worker.name',
];

const database = await forFile(createMigratedDatabase());
const superuser = await forFile(connect(database.databaseUrl));

test('each column that can hold text is erased, or is known to hold no person of a record', async () => {
  const columns = (await readTextColumns(superuser)).filter(
    ({ interfaceName }) => interfaceName === null || Object.hasOwn(testService.interfaces, interfaceName),
  );
  expect(columns.map(({ name }) => name)).toEqual([...erased, ...notReached, ...withoutPersons].toSorted());
});
