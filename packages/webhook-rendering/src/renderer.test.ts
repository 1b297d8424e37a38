import { readFileSync } from 'node:fs';
import { eventOf, toRecordId } from '@deedwire/core';
import { orderPlaced, testService } from '@deedwire/core/test-service';
import { missing } from '@deedwire/testing';
import { findEventVersion, webhookEventTypes as ownEventTypes } from '@deedwire/webhook-contract';
import { RenderError } from '@deedwire/webhooks/renderer';
import { expect, test } from 'vitest';
import { createRenderer, renderingsOf } from './renderer.ts';

const occurredAt = '2026-11-20T08:00:00.000Z';
const sampleOf = (type: string): object => (eventOf(testService, type) ?? missing()).sample('service');
const { order, placedAt } = orderPlaced.sample('service');

const renderer = createRenderer(testService, 'service');

function render(type: string, snapshot: unknown, version = '2026-11-01'): Buffer {
  const account = {
    accountId: toRecordId<'Account'>('6'),
    interfaceName: 'customer',
    recordId: null,
    aboutSubscriptionId: null,
    requestId: null,
    isTest: false,
  } as const;
  return renderer.render(
    { id: toRecordId('5'), ...account, type, occurredAt: new Date(occurredAt), snapshot },
    version,
  );
}

const known = testService.events.flatMap(renderingsOf).map(({ type, version }) => [type, version] as const);

test('has a renderer for every published version, and no other renderer', () => {
  const published = ownEventTypes.flatMap(({ type, versions }) =>
    versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [`${type} ${version}`])),
  );
  expect(known.map((pair) => pair.join(' ')).toSorted()).toEqual(
    [...published, 'order.placed 2026-11-01', 'order.placed 2027-02-01'].toSorted(),
  );
});

const own = known.filter(([type]) => ownEventTypes.some((each) => each.type === type));

test.each(own)(
  'renders the sample of %s at %s as its published schema demands, with what its fixture shows',
  (type, version) => {
    const body: unknown = JSON.parse(render(type, sampleOf(type), version).toString());
    expect(findEventVersion(type, version)?.body.parse(body)).toEqual(body);
    const file = new URL(`../../webhook-contract/fixtures/${type}/${version}/accept/typical.json`, import.meta.url);
    const { data } = JSON.parse(readFileSync(file, 'utf8'));
    // The fixture of a release lacks what was added later.
    expect(body).toMatchObject({ id: 'gid://service/WebhookEvent/5', type, version, timestamp: occurredAt, data });
  },
);

test('knows each of them', () => {
  expect(known.filter(([type, version]) => !renderer.knows(type, version) || !renderer.knowsType(type))).toEqual([]);
});

test.each(['order.lost', 'constructor', 'toString'])('does not know the type %s', (type) => {
  expect(renderer.knowsType(type)).toBe(false);
  expect(renderer.knows(type, '2026-11-01')).toBe(false);
});

test('does not know a version that is not published', () => {
  expect(renderer.knows('order.placed', '2026-11-02')).toBe(false);
});

test('renders exactly these bytes, because receivers verify a signature over them', () => {
  expect(render('order.placed', sampleOf('order.placed')).toString()).toBe(
    '{"id":"gid://service/WebhookEvent/5","type":"order.placed","version":"2026-11-01","timestamp":"2026-11-20T08:00:00.000Z","data":{"orderId":"gid://service/Order/4711","item":"Tea «Grün» 🏡","note":null,"placedAt":"2026-11-03T09:30:00.000Z"}}',
  );
});

test('omits fields that a newer build has added to the snapshot', () => {
  const newer = { order: { ...order, secretNote: 'x' }, placedAt, source: 'api' };
  expect(render('order.placed', newer)).toEqual(render('order.placed', sampleOf('order.placed')));
});

test.each<[string, string, unknown]>([
  ['an empty snapshot', 'order.placed', {}],
  ['null', 'order.placed', null],
  ['the snapshot of another type', 'order.placed', sampleOf('api_key.created')],
  ['a missing field', 'order.placed', { order: { id: order.id, note: null }, placedAt }],
  ['an id of another type', 'order.placed', { order: { ...order, id: 'gid://service/Customer/7' }, placedAt }],
  ['a field of the wrong type', 'order.placed', { order: { ...order, item: 7 }, placedAt }],
  ['an invalid time', 'order.placed', { order, placedAt: 'yesterday' }],
  ['a payload that is too large', 'webhook.test', { message: 'x'.repeat(256_000) }],
  ['an unknown type', 'order.lost', {}],
  ['the name of an inherited property', 'constructor', {}],
])('rejects %s', (_, type, snapshot) => {
  expect(() => render(type, snapshot)).toThrow(RenderError);
});

test('rejects an unknown version', () => {
  expect(() => render('order.placed', sampleOf('order.placed'), '2026-11-02')).toThrow(RenderError);
});

test('accepts at most 256 kB', () => {
  const without = render('webhook.test', { message: '' }).length;
  expect(render('webhook.test', { message: 'x'.repeat(256_000 - without) })).toHaveLength(256_000);
  expect(() => render('webhook.test', { message: 'x'.repeat(256_001 - without) })).toThrow('256001 bytes');
});

const failing = () => render('order.placed', { order: { ...order, id: 'ada-at-home' }, placedAt });

test('names the invalid field in the error, without its value', () => {
  expect(failing).toThrow(RenderError);
  expect(failing).toThrow('data.orderId');
  expect(failing).not.toThrow('ada-at-home');
});
