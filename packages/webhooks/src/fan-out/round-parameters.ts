import { pgArray, pgTextArray, TextDictionary } from '../kernel/pg-array.ts';
import type { RoundPlan } from './round-plan.ts';

/** The parameters of the write, from $2 on. Array subscripts start at 1. */
export function roundParameters(plan: RoundPlan): unknown[] {
  const { done, blocked, subscriptions, deliveries, payloads, deferred } = plan;
  const entries = [...done, ...blocked];
  const types = new TextDictionary();
  const versions = new TextDictionary();
  const deliveryTypes = deliveries.map(({ event }) => types.add(event.type));
  const deliveryVersions = deliveries.map(({ version }) => versions.add(version));
  const payloadVersions = payloads.map(({ version }) => versions.add(version));
  const starts: number[] = [];
  let start = 1;
  for (const { body } of payloads) {
    starts.push(start);
    start += body.length;
  }
  return [
    pgArray(entries.map(({ account }) => account.shard)),
    pgArray(entries.map(({ entry }) => entry.position)),
    pgArray(entries.map(({ entry }) => entry.eventId)),
    pgArray(entries.map(({ entry }) => entry.subscriptionId)),
    pgTextArray([...done.map(() => null), ...blocked.map(({ blockedOn }) => blockedOn)]),
    pgArray(subscriptions.map(({ id }) => id)),
    pgArray(subscriptions.map(({ count }) => count)),
    pgArray(subscriptions.map(({ accountId }) => accountId)),
    pgArray(subscriptions.map(({ interfaceName }) => interfaceName)),
    types.toPgArray(),
    versions.toPgArray(),
    pgArray(deliveries.map(({ subscription }) => subscription.index + 1)),
    pgArray(deliveries.map(({ ordinal }) => ordinal)),
    pgArray(deliveries.map(({ event }) => event.id)),
    pgArray(deliveryTypes),
    pgArray(deliveryVersions),
    pgArray(deliveries.map(({ event }) => event.occurredAt)),
    pgTextArray(deliveries.map(({ event }) => event.requestId)),
    pgArray(deliveries.map(({ payload }) => payload?.body.length ?? null)),
    pgArray(payloads.map(({ event }) => event.id)),
    pgArray(payloadVersions),
    pgArray(payloads.map(({ event }) => event.interfaceName)),
    pgArray(starts),
    Buffer.concat(
      payloads.map(({ body }) => body),
      start - 1,
    ),
    pgArray(payloads.map(({ body }) => body.length)),
    pgArray(deferred.map(({ accountId }) => accountId)),
    pgArray(deferred.map(({ interfaceName }) => interfaceName)),
    pgArray(deferred.map(({ eventId }) => eventId)),
    pgArray(deferred.map(({ subscriptionId }) => subscriptionId)),
    pgTextArray(deferred.map(({ eventType }) => eventType)),
  ];
}
