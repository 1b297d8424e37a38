import { expect, test } from 'vitest';
import type { ReceivedDelivery } from './support/faults/delivery-log.ts';
import { judge } from './support/faults/judge.ts';

const subscriptions = new Map([['s1', 'ada']]);
const accepted = [
  { accountId: 'ada', recordId: 'r1' },
  { accountId: 'ada', recordId: 'r2' },
];

function delivery(number: number, changes: Partial<ReceivedDelivery> = {}): ReceivedDelivery {
  return {
    path: '/hook',
    subscriptionId: 's1',
    webhookId: `d${number}`,
    attempt: 1,
    sequence: number,
    recordId: `r${number}`,
    digest: `body ${number}`,
    isAuthentic: true,
    ...changes,
  };
}

const clean = {
  delivered: 2,
  lost: 0,
  unexpected: 0,
  badSignatures: 0,
  changedRepeats: 0,
  gaps: 0,
  repeats: 0,
  explained: 0,
};
const both = [delivery(1), delivery(2)];

test.each<[string, ReceivedDelivery[], Partial<typeof clean>]>([
  ['nothing in a complete log', both, {}],
  ['a lost event, and the gap that it leaves', [delivery(2)], { delivered: 1, lost: 1, gaps: 1 }],
  ['an event that was not accepted', [...both, delivery(3)], { delivered: 3, unexpected: 1 }],
  [
    'a delivery to a subscription of another account',
    [...both, delivery(1, { subscriptionId: 's2' })],
    { delivered: 3, unexpected: 1, repeats: 1 },
  ],
  ['a bad signature', [delivery(1, { isAuthentic: false }), delivery(2)], { badSignatures: 1 }],
  ['a repeat', [...both, delivery(1)], { repeats: 1 }],
  ['a repeat with another body', [...both, delivery(1, { digest: 'other' })], { repeats: 1, changedRepeats: 1 }],
  ['a repeat with another sequence', [...both, delivery(1, { sequence: 3 })], { repeats: 1, changedRepeats: 1 }],
  ['an event that was delivered under another id', [...both, delivery(1, { webhookId: 'd9' })], { changedRepeats: 1 }],
  ['a sequence that is used twice', [delivery(1), delivery(2, { sequence: 1 })], { gaps: 1 }],
  ['no repeat in a retry', [...both, delivery(1, { attempt: 2 })], {}],
])('reports %s', (_, deliveries, differences) => {
  expect(judge(accepted, deliveries, subscriptions, new Map())).toEqual({ ...clean, ...differences });
});

test('explains a repeat once for each interruption at which it was unsettled', () => {
  const unsettled = new Map([['d1 1', 2]]);
  const repeated = [...both, delivery(1), delivery(1), delivery(1), delivery(2)];
  expect(judge(accepted, repeated, subscriptions, unsettled)).toMatchObject({ repeats: 4, explained: 2 });
});
