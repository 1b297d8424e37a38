import { toRecordId } from '@deedwire/core';
import { expect, test } from 'vitest';
import type { AccountPins, SubscriptionPins } from '../subscriptions/read-pins.ts';
import { canContinue } from './can-continue.ts';
import { blockedOnRefusal } from './sql/blocked-queue.ts';

const id = toRecordId<'WebhookSubscription'>('1');
const renderer = {
  knowsType: (type: string) => type === 'sample',
  knows: (_: string, version: string) => version === 'v1',
};

function pinned(
  type: string,
  version: string | null,
  pausedReason: SubscriptionPins['pausedReason'] = null,
): SubscriptionPins[] {
  return [
    {
      id,
      queuePosition: 0,
      pausedReason,
      isListener: false,
      versions: new Map(version === null ? [] : [[type, version]]),
    },
  ];
}

function pins(version: string | null, pausedReason: SubscriptionPins['pausedReason'] = null): AccountPins {
  return {
    accountId: toRecordId('64'),
    interfaceName: 'customer',
    subscriptions: pinned('sample', version, pausedReason),
  };
}

const check = (of: AccountPins | undefined, blockedOn = 'sample', subscriptionId: typeof id | null = id) =>
  canContinue({ blockedOn, subscriptionId }, of, { ...renderer, render: () => Buffer.alloc(0) });

test.each([
  ['a version that is still unknown', pins('v9'), false],
  ['a version that is known', pins('v1'), true],
  ['a subscription that no longer pins the type', pins(null), true],
  ['a subscription that was paused because its version is retired', pins('v9', 'VERSION_RETIRED'), true],
  ['a subscription that its owner paused', pins('v9', 'OWNER'), false],
  ['an account without subscriptions', undefined, true],
])('%s', (_, of, expected) => {
  expect(check(of)).toBe(expected);
});

test('an entry that the database refused is retried', () => {
  expect(check(pins('v9'), blockedOnRefusal)).toBe(true);
});

test('an entry for all subscriptions needs only its type to be known, because it is delivered to the others', () => {
  expect(check(pins('v9'), 'sample', null)).toBe(true);
  expect(check({ ...pins(null), subscriptions: pinned('other', 'v1') }, 'other', null)).toBe(false);
});
