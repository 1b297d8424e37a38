import { toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import type { FanOutEvent } from '../events.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins, SubscriptionPins } from '../subscriptions/read-pins.ts';
import { planRound } from './plan-round.ts';
import { QueuedAccount } from './queued-account.ts';
import { RenderError, type Renderer, type StoredEvent } from './renderer.ts';
import type { PickedEntry, RoundPlan } from './round-plan.ts';

const account = new QueuedAccount(toRecordId('64'));
const subscriptionId = (id: number) => toRecordId<'WebhookSubscription'>(String(id));

const renderer: Renderer = {
  knowsType: (type) => type === 'sample',
  knows: (type, version) => type === 'sample' && version !== 'v9',
  render(event, version) {
    if (version === 'broken') throw new RenderError('No.');
    return Buffer.from(`${event.id} ${version}`);
  },
};

const pinned = (id: number, version: string, more: Partial<SubscriptionPins> = {}): SubscriptionPins => ({
  id: subscriptionId(id),
  queuePosition: 0,
  pausedReason: null,
  isListener: false,
  versions: new Map([
    ['sample', version],
    ['unknown', version],
  ]),
  ...more,
});

const storedEvent = (id: number, type: string, accountId: AccountId = account.id): StoredEvent => ({
  id: toRecordId(String(id)),
  accountId,
  interfaceName: 'customer',
  type,
  recordId: null,
  aboutSubscriptionId: null,
  occurredAt: new Date(0),
  snapshot: {},
  requestId: null,
  isTest: false,
});

/** The entry at a position is for the event with the same number. */
const pick = (position: number, more: { subscription?: number; claims?: number } = {}): PickedEntry => ({
  account,
  entry: {
    position,
    eventId: toRecordId(String(position)),
    subscriptionId: more.subscription === undefined ? null : subscriptionId(more.subscription),
    claims: more.claims ?? 0,
    isCounted: false,
  },
});

function plan(
  picked: readonly PickedEntry[],
  subscriptions: readonly SubscriptionPins[],
  options: {
    types?: Record<number, string>;
    deliveries?: number;
    roundBytes?: number;
    leftOut?: number[];
    about?: SubscriptionPins['id'];
  } = {},
): RoundPlan & { events: FanOutEvent[] } {
  const events: FanOutEvent[] = [];
  const accountPins: AccountPins = { accountId: account.id, interfaceName: 'customer', subscriptions };
  const stored = picked.map(({ entry: { position } }) => ({
    ...storedEvent(position, options.types?.[position] ?? 'sample'),
    aboutSubscriptionId: options.about ?? null,
  }));
  const leftOut = new Set((options.leftOut ?? []).map((id) => toRecordId<'WebhookEvent'>(String(id))));
  const result = planRound(picked, {
    pins: new Map(subscriptions.length === 0 ? [] : [[account.id, accountPins]]),
    events: { events: new Map(stored.map((event) => [event.id, event])), leftOut },
    renderer,
    limits: { deliveries: options.deliveries ?? 100, roundBytes: options.roundBytes ?? 1_000_000 },
    onEvent: (event) => events.push(event),
  });
  return { ...result, events };
}

const positions = (picked: readonly PickedEntry[]) => picked.map(({ entry }) => entry.position);
const deliveriesOf = ({ deliveries }: RoundPlan) =>
  deliveries.map(({ subscription, ordinal, event, version, payload }) => [
    Number(event.id),
    Number(subscription.id),
    ordinal,
    payload === null ? `${version} failed` : version,
  ]);

test('fans out to every subscription, numbers its deliveries and renders each version once', () => {
  const result = plan([pick(1), pick(2)], [pinned(1, 'v1'), pinned(2, 'v1'), pinned(3, 'v2')]);
  expect(deliveriesOf(result)).toEqual([
    [1, 1, 1, 'v1'],
    [1, 2, 1, 'v1'],
    [1, 3, 1, 'v2'],
    [2, 1, 2, 'v1'],
    [2, 2, 2, 'v1'],
    [2, 3, 2, 'v2'],
  ]);
  expect(result.payloads.map(({ body }) => body.toString())).toEqual(['1 v1', '1 v2', '2 v1', '2 v2']);
  expect(positions(result.done)).toEqual([1, 2]);
  expect(result.subscriptions.map(({ count }) => count)).toEqual([2, 2, 2]);
});

test('a subscription receives the events with a higher position than when it was created', () => {
  const result = plan([pick(1), pick(2)], [pinned(1, 'v1', { queuePosition: 1 })]);
  expect(deliveriesOf(result)).toEqual([[2, 1, 1, 'v1']]);
  expect(positions(result.done)).toEqual([1, 2]);
});

test('an entry for one subscription is fanned out to it only, at any position', () => {
  const result = plan([pick(1, { subscription: 2 })], [pinned(1, 'v1'), pinned(2, 'v1', { queuePosition: 5 })]);
  expect(deliveriesOf(result)).toEqual([[1, 2, 1, 'v1']]);
});

test('an alert is not for the subscription that it is about, even if an entry names it', () => {
  const [one, two] = [pinned(1, 'v1'), pinned(2, 'v1')];
  const result = plan([pick(1), pick(2, { subscription: 1 })], [one, two], { about: subscriptionId(1) });
  expect(deliveriesOf(result)).toEqual([[1, 2, 1, 'v1']]);
  expect(positions(result.done)).toEqual([1, 2]);
});

test('a version that cannot be rendered fails for the subscriptions that pin it, and reaches all others', () => {
  const result = plan([pick(1)], [pinned(1, 'broken'), pinned(2, 'v1'), pinned(3, 'broken')]);
  expect(deliveriesOf(result)).toEqual([
    [1, 1, 1, 'broken failed'],
    [1, 2, 1, 'v1'],
    [1, 3, 1, 'broken failed'],
  ]);
  expect(result.events).toMatchObject([{ kind: 'rendering-failed', version: 'broken' }]);
});

test('an unknown version is deferred for its subscription, and the others receive the event', () => {
  const result = plan([pick(1)], [pinned(1, 'v9'), pinned(2, 'v1')]);
  expect(deliveriesOf(result)).toEqual([[1, 2, 1, 'v1']]);
  expect(result.deferred).toEqual([
    { accountId: account.id, interfaceName: 'customer', eventId: '1', subscriptionId: '1', eventType: 'sample' },
  ]);
  expect(positions(result.done)).toEqual([1]);
});

test('an entry for one subscription is blocked while its version is unknown', () => {
  const result = plan([pick(1, { subscription: 1 }), pick(2)], [pinned(1, 'v9'), pinned(2, 'v1')]);
  expect(positions(result.blocked)).toEqual([1]);
  expect(positions(result.done)).toEqual([2]);
});

test('an unknown version of a subscription that is paused because it was retired is skipped', () => {
  const result = plan([pick(1)], [pinned(1, 'v9', { pausedReason: 'VERSION_RETIRED' })]);
  expect(result).toMatchObject({ deliveries: [], deferred: [], blocked: [] });
  expect(positions(result.done)).toEqual([1]);
});

test('an unknown type is blocked if a subscription pins it, and does not delay later events', () => {
  const result = plan([pick(1), pick(2)], [pinned(1, 'v1')], { types: { 1: 'unknown' } });
  expect(positions(result.blocked)).toEqual([1]);
  expect(deliveriesOf(result)).toEqual([[2, 1, 1, 'v1']]);
});

test('an event that no subscription pins is done', () => {
  const result = plan([pick(1), pick(2)], [pinned(1, 'v1', { versions: new Map() })], { types: { 1: 'unknown' } });
  expect(positions(result.done)).toEqual([1, 2]);
  expect(result.deliveries).toEqual([]);
});

test('an entry fails for each subscription after five claims', () => {
  const result = plan([pick(1, { claims: 5 })], [pinned(1, 'v1'), pinned(2, 'v2')]);
  expect(deliveriesOf(result)).toEqual([
    [1, 1, 1, 'v1 failed'],
    [1, 2, 1, 'v2 failed'],
  ]);
  expect(result.payloads).toEqual([]);
  expect(result.events).toEqual([{ kind: 'entry-given-up', alarm: true, event: '1', claims: 5 }]);
});

test('entries that do not fit are left over in order', () => {
  const result = plan([pick(1), pick(2), pick(3)], [pinned(1, 'v1')], { deliveries: 1 });
  expect(positions(result.done)).toEqual([1]);
  expect(positions(result.leftOver)).toEqual([2, 3]);
  const byBytes = plan([pick(1), pick(2)], [pinned(1, 'v1')], { roundBytes: 1 });
  expect(positions(byBytes.leftOver)).toEqual([2]);
});

test('an event does not overtake an earlier one of its account whose snapshot was skipped', () => {
  const result = plan([pick(1), pick(2), pick(3)], [pinned(1, 'v1')], { leftOut: [2] });
  expect(positions(result.done)).toEqual([1]);
  expect(positions(result.leftOver)).toEqual([2, 3]);
});

test('an event of another account is not fanned out', () => {
  const foreign = { account: new QueuedAccount(toRecordId<'Account'>('65')), entry: pick(1).entry };
  const pins = { accountId: foreign.account.id, interfaceName: 'customer' as const, subscriptions: [pinned(1, 'v1')] };
  const events: FanOutEvent[] = [];
  const result = planRound([foreign], {
    pins: new Map([[foreign.account.id, pins]]),
    events: { events: new Map([[toRecordId('1'), storedEvent(1, 'sample')]]), leftOut: new Set() },
    renderer,
    limits: { deliveries: 100, roundBytes: 100 },
    onEvent: (event) => events.push(event),
  });
  expect(result.deliveries).toEqual([]);
  expect(events).toMatchObject([{ kind: 'event-missing' }]);
});
