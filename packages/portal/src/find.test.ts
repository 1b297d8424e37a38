import { expect, test } from 'vitest';
import { wantedOf } from './find.ts';

const event = 'gid://service/WebhookEvent/111034132070400000';

test.each([
  ['913', { kind: 'delivery', number: '913' }],
  ['  gid://service/WebhookDelivery/913\n', { kind: 'delivery', number: '913' }],
  ['webhook-id: gid://service/WebhookDelivery/913', { kind: 'delivery', number: '913' }],
  ['gid://service/Referral/9', { kind: 'record', id: 'gid://service/Referral/9' }],
  [event, { kind: 'event', id: event, type: null, atMs: Date.UTC(2026, 10, 3, 9, 30) }],
  [
    `{"id":"${event}","type":"referral.created","timestamp":"2026-11-03T09:30:01.000Z","data":{"id":"gid://service/Referral/9"}}`,
    { kind: 'event', id: event, type: 'referral.created', atMs: Date.UTC(2026, 10, 3, 9, 30, 1) },
  ],
  ['Grace Hopper', null],
  ['', null],
])('finds what %j names', (text, wanted) => {
  expect(wantedOf(text)).toEqual(wanted);
});
