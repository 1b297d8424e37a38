import type { StoredEvent } from '../../src/fan-out/renderer.ts';
import type { RoundPlan } from '../../src/fan-out/round-plan.ts';
import type { EventId, SubscriptionId } from '../../src/kernel/ids.ts';
import { samplePin, type SeededAccount } from './seed.ts';

/** A round with a delivery of each event to one subscription. The bodies are `body 0`, `body 1` and so on. */
export function planOf(
  { id: accountId, interfaceName }: SeededAccount,
  id: SubscriptionId,
  eventIds: readonly EventId[],
  changesOf: (index: number) => Partial<StoredEvent> = () => ({}),
): RoundPlan {
  const owner = { accountId, interfaceName };
  const subscription = { ...owner, index: 0, id, isPaused: false, isListener: false, count: eventIds.length };
  const { type, version } = samplePin;
  const payloads = eventIds.map((eventId, index) => {
    const empty = { recordId: null, aboutSubscriptionId: null, snapshot: {}, requestId: null, isTest: false };
    const event = { ...owner, ...empty, id: eventId, type, occurredAt: new Date(), ...changesOf(index) };
    return { event, version, body: Buffer.from(`body ${index}`) };
  });
  const deliveries = payloads.map((payload, index) => {
    return { subscription, ordinal: index + 1, event: payload.event, version, payload, isTargeted: false };
  });
  return { done: [], subscriptions: [subscription], deliveries, payloads, deferred: [], blocked: [], leftOver: [] };
}
