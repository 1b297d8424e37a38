import { insertEventTypePins, insertSubscription, reserveSubscriptionId } from '@deedwire/actions/webhooks';
import { type AccountId, secretAssociatedData } from '@deedwire/core';
import { type createSecretKeyRing, type Database, onlyRow, type Transaction } from '@deedwire/store';
import { insertEvent } from '@deedwire/webhooks/outbox';
import { secret } from '../../signed-headers.ts';

/** What the bench knows about the storage of the engine, without that of replays. */

export const interfaceName = 'partner';
const eventType = { type: 'referral.converted', version: '2027-02-01' };
/** Of the mutation that `write` measures. */
const writtenEventType = { type: 'referral.created', version: '2026-11-01' };

export async function addSubscription(
  transaction: Transaction,
  target: { accountId: AccountId; callbackUrl: string; timeoutSeconds: number },
  keyRing: ReturnType<typeof createSecretKeyRing>,
): Promise<void> {
  const { accountId, callbackUrl, timeoutSeconds } = target;
  const id = await reserveSubscriptionId(transaction);
  const secretCiphertext = keyRing.encrypt(secret, secretAssociatedData(id));
  await insertSubscription(transaction, {
    id,
    accountId,
    interfaceName,
    name: null,
    callbackUrl,
    secretCiphertext,
    timeoutSeconds,
    requestHeader: null,
  });
  await insertEventTypePins(transaction, { id, interfaceName }, [eventType, writtenEventType]);
}

/** Each event is about another record. */
let records = 0;

/** @param name appears in the body of the webhook as the external reference of its referral */
export async function addEvent(transaction: Transaction, accountId: AccountId, name: string): Promise<void> {
  const at = '2026-11-03T09:30:00.000Z';
  await insertEvent(transaction, {
    accountId,
    interfaceName,
    type: eventType.type,
    recordId: String((records += 1)),
    snapshot: {
      referral: { id: 'gid://service/Referral/4711', status: 'CONVERTED', externalReference: name },
      matter: { id: 'gid://service/Matter/99', reference: 'M-2026-000099', openedAt: at },
      convertedAt: at,
    },
    requestId: null,
  });
}

/** True while an event is not fanned out or a delivery is not settled. */
export async function hasUnsettled(database: Database): Promise<boolean> {
  const text = `
    select exists (select from webhook_event_queue) or exists (select from webhook_pending_delivery) as unsettled`;
  return onlyRow(await database.query<{ unsettled: boolean }>({ name: 'bench-has-unsettled', text }, [])).unsettled;
}

export async function countAttempts(database: Database): Promise<number> {
  const text = 'select count(*)::int as attempts from webhook_attempt';
  return onlyRow(await database.query<{ attempts: number }>({ name: 'bench-count-attempts', text }, [])).attempts;
}

/** The number of shards that each worker owns, the smallest first. Shards without an owner are not counted. */
export async function countShards(database: Database): Promise<number[]> {
  const text = `
    select count(*)::int as shards from webhook_shard where worker_id is not null group by worker_id order by 1`;
  const rows = await database.query<{ shards: number }>({ name: 'bench-count-shards', text }, []);
  return rows.map(({ shards }) => shards);
}
