import { expect, test } from 'vitest';
import { wantedOf } from './find.ts';

const portal = 'https://api.example/customers/portal/7/';
const delivery = 'gid://service/WebhookDelivery/913';
const event = 'gid://service/WebhookEvent/111034132070400000';
const record = 'gid://service/Order/9';
const uuidRecord = 'gid://service/Order/0190a5a7-8f3c-7c3e-9b1f-2d4e6f8a0b1c';
const textRecord = 'gid://service/Order/SO-2026%2F0001.a%20%C3%A4';
const payload = JSON.stringify({ id: event, type: 'order.placed', data: { id: record } });
const isDelivery = { kind: 'delivery', number: '913' };
const isEvent = { kind: 'event', id: event };

test.each([
  ['a delivery', delivery, isDelivery],
  ['an event', `  ${event}\n`, isEvent],
  ['a record', record, { kind: 'record', id: record }],
  ['a record with a UUID', `Order ${uuidRecord}.`, { kind: 'record', id: uuidRecord }],
  ['a record with any text', `"orderId":"${textRecord}","`, { kind: 'record', id: textRecord }],
  [
    'a record with any text that is encoded again, twice',
    `?record=${encodeURIComponent(encodeURIComponent(textRecord))}&x=1`,
    { kind: 'record', id: textRecord },
  ],
  ['a subscription', 'gid://service/WebhookSubscription/5', { kind: 'subscription', number: '5' }],
  ['a resend', 'gid://service/WebhookReplay/5', { kind: 'replay', id: 'gid://service/WebhookReplay/5' }],
  ['a number', ' 913\r\n', { kind: 'number', number: '913' }],
  ['a number in quotes', '"913"', { kind: 'number', number: '913' }],
  ['an id that JSON escaped', String.raw`gid:\/\/service\/WebhookEvent\/111034132070400000`, isEvent],
  ['an id that JSON escaped twice', String.raw`"gid:\\\/\\\/service\\\/WebhookDelivery\\\/913"`, isDelivery],
  ['an id with escaped code points', String.raw`gid:\u002f\u002Fservice\u002fWebhookDelivery\u002f913`, isDelivery],
  ['an id that is encoded', encodeURIComponent(delivery).replaceAll('%2F', '%2f'), isDelivery],
  ['an id that is encoded twice', `id=${encodeURIComponent(encodeURIComponent(delivery))}&x=%`, isDelivery],
  ['an id in a sentence', `Where is (${delivery})? It is of ${event}.`, isDelivery],
  ['a header', `webhook-id: ${delivery}`, isDelivery],
  [
    'headers that name the subscription first',
    `x-sub: gid://service/WebhookSubscription/5\r\nwebhook-id: ${delivery}`,
    isDelivery,
  ],
  ['a payload', payload, isEvent],
  [
    'a payload with a byte order mark and CRLF',
    `\ufeff${JSON.stringify(JSON.parse(payload), null, 2).replaceAll('\n', '\r\n')}\r\n`,
    isEvent,
  ],
  ['a payload in quotes', `'${payload}'`, isEvent],
  ['a payload in a string of JSON', JSON.stringify(payload), isEvent],
  [
    'a payload whose data comes first',
    `{"data":{"id":"${delivery}","url":"https://a.example/customers/portal/8/"},"id":"${event}"}`,
    isEvent,
  ],
  ['a part of a payload', payload.slice(0, -20), isEvent],
  ['a line of a log', `{"deliveryId":"${delivery}","body":${payload}}`, isDelivery],
  ['a page', `${portal}deliveries/913?attempt=2#x`, { kind: 'page', to: 'deliveries/913?attempt=2' }],
  [
    'a page in a sentence',
    `See <${portal}deliveries?record=${record}>.`,
    { kind: 'page', to: `deliveries?record=${record}` },
  ],
  ['the first page without its slash', portal.slice(0, -1), { kind: 'page', to: '' }],
  ['a page of another account', portal.replace('7', '77'), { kind: 'other-account' }],
  ['a page of another origin', portal.replace('api.', 'api.staging.'), { kind: 'other-account' }],
  ['a name', ' Grace "H" ', { kind: 'name', name: 'Grace "H"' }],
  ['another address', 'https://crm.example/hooks', { kind: 'name', name: 'https://crm.example/hooks' }],
  ['a number without a record', '9223372036854775808', { kind: 'name', name: '9223372036854775808' }],
  ['JSON without an id', '[null]', { kind: 'name', name: '[null]' }],
  ['null', 'null', { kind: 'name', name: 'null' }],
  ['invalid encoding', '%E0%A4%A', { kind: 'name', name: '%E0%A4%A' }],
  ['half of a surrogate pair', '\ud800', { kind: 'name', name: '\ud800' }],
  ['nothing', ' \ufeff ', null],
  ['quotes', '""', null],
])('finds %s', (_, text, wanted) => {
  expect(wantedOf(text, portal)).toEqual(wanted);
});

test.each(['https://', 'gid://a/', '%25', '\\', '{"id":', '"', '9', 'https://a/portal/'])(
  'reads 1 MB of %j',
  (part) => {
    const startedMs = performance.now();
    wantedOf(part.repeat(1_000_000 / part.length), portal);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  },
);
