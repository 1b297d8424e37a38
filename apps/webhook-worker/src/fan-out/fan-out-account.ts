import type { AccountId, RecordId } from '@deedwire/domain';
import type { Store } from '@deedwire/store';
import {
  insertDeliveries,
  insertPayloads,
  lockLanes,
  markEventFailed,
  markEventsFannedOut,
  selectQueuedEvents,
  tryLockFanOut,
  type DeliveryInput,
  type PayloadInput,
  type QueuedEventRow,
} from '@deedwire/store/webhook-fan-out';
import { knownEventVersions, RenderError, renderPayload } from '../rendering/render-payload.ts';

/** What one round of an account did. */
export interface FanOutResult {
  events: number;
  deliveries: number;
  /** Events that could not be rendered. They are set aside, with the reason. */
  failed: { eventId: RecordId<'WebhookEvent'>; reason: string }[];
}

const eventsPerTransaction = 100;

/**
 * Makes deliveries of the oldest waiting events of an account, in one transaction.
 *
 * @returns nothing done when another worker is at this account
 */
export async function fanOutAccount(store: Store, gidNamespace: string, accountId: AccountId): Promise<FanOutResult> {
  return store.transaction(async (transaction) => {
    const result: FanOutResult = { events: 0, deliveries: 0, failed: [] };
    if (!(await tryLockFanOut(transaction, accountId))) return result;
    const events = await selectQueuedEvents(transaction, knownEventVersions, accountId, eventsPerTransaction);
    const [first] = events;
    if (first === undefined) return result;

    const payloads: PayloadInput[] = [];
    const rendered: QueuedEventRow[] = [];
    for (const event of events) {
      try {
        payloads.push(...renderEach(gidNamespace, event));
        rendered.push(event);
      } catch (error) {
        if (!(error instanceof RenderError)) throw error;
        result.failed.push({ eventId: event.id, reason: error.message });
        await markEventFailed(transaction, event.id, error.message);
      }
    }

    const subscriptionIds = new Set(rendered.flatMap(({ subscriptions }) => subscriptions.map(({ id }) => id)));
    const sequences = await lockLanes(transaction, [...subscriptionIds]);
    const deliveries = numberDeliveries(rendered, sequences);
    if (payloads.length > 0) await insertPayloads(transaction, payloads);
    if (deliveries.length > 0) {
      await insertDeliveries(transaction, { id: accountId, interfaceName: first.interfaceName }, deliveries);
    }
    await markEventsFannedOut(
      transaction,
      rendered.map(({ id }) => id),
    );
    return { ...result, events: rendered.length, deliveries: deliveries.length };
  });
}

/** One payload for each version that some subscription pins. */
function renderEach(gidNamespace: string, event: QueuedEventRow): PayloadInput[] {
  const versions = new Set(event.subscriptions.map(({ version }) => version));
  return Array.from(versions, (version) => ({
    eventId: event.id,
    version,
    interfaceName: event.interfaceName,
    body: renderPayload(
      gidNamespace,
      { id: event.id, type: event.eventType, occurredAt: event.occurredAt, snapshot: event.snapshot },
      version,
    ),
  }));
}

/** Continues each subscription's count. One that is not in `sequences` was deleted meanwhile and receives nothing. */
function numberDeliveries(
  events: readonly QueuedEventRow[],
  sequences: ReadonlyMap<RecordId<'WebhookSubscription'>, bigint>,
): DeliveryInput[] {
  const counts = new Map(sequences);
  return events.flatMap((event) =>
    event.subscriptions.flatMap(({ id, version }) => {
      const last = counts.get(id);
      if (last === undefined) return [];
      counts.set(id, last + 1n);
      return [{ subscriptionId: id, eventId: event.id, version, sequence: last + 1n }];
    }),
  );
}
