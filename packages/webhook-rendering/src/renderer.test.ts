import { readFileSync } from 'node:fs';
import { eventOf, toRecordId } from '@deedwire/core';
import { firm } from '@deedwire/firm';
import { referralCreated, teamMemberAdded } from '@deedwire/firm/events';
import { missing } from '@deedwire/testing';
import { webhookEventTypes as ownEventTypes } from '@deedwire/webhook-contract';
import { findEventVersion, webhookEventTypes } from '@deedwire/webhook-events';
import { RenderError } from '@deedwire/webhooks/renderer';
import { expect, test } from 'vitest';
import { createRenderer, renderingsOf } from './renderer.ts';

const occurredAt = '2026-11-20T08:00:00.000Z';
const sampleOf = (type: string): object => (eventOf(firm, type) ?? missing()).sample('service');
const { referral } = referralCreated.sample('service');
const { lender, teamMember } = teamMemberAdded.sample('service');

const renderer = createRenderer(firm, 'service');

function render(type: string, snapshot: unknown, version = '2026-11-01'): Buffer {
  const account = {
    accountId: toRecordId<'Account'>('6'),
    interfaceName: 'partner',
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

const known = firm.events.flatMap(renderingsOf).map(({ type, version }) => [type, version] as const);

test('has a renderer for every published version, and no other renderer', () => {
  const published = webhookEventTypes.flatMap(({ type, versions }) =>
    versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [`${type} ${version}`])),
  );
  expect(known.map((pair) => pair.join(' ')).toSorted()).toEqual(published.toSorted());
});

test.each(known)('renders the sample of %s at %s as its published schema and its reference demand', (type, version) => {
  const body: unknown = JSON.parse(render(type, sampleOf(type), version).toString());
  expect(findEventVersion(type, version)?.body.parse(body)).toEqual(body);
  const contract = ownEventTypes.some((each) => each.type === type) ? 'webhook-contract' : 'webhook-events';
  const file = new URL(`../../${contract}/fixtures/${type}/${version}/accept/typical.json`, import.meta.url);
  const { data } = JSON.parse(readFileSync(file, 'utf8'));
  expect(body).toEqual({ id: 'gid://service/WebhookEvent/5', type, version, timestamp: occurredAt, data });
});

test('knows each of them', () => {
  expect(known.filter(([type, version]) => !renderer.knows(type, version) || !renderer.knowsType(type))).toEqual([]);
});

test.each(['referral.lost', 'constructor', 'toString'])('does not know the type %s', (type) => {
  expect(renderer.knowsType(type)).toBe(false);
  expect(renderer.knows(type, '2026-11-01')).toBe(false);
});

test('does not know a version that is not published', () => {
  expect(renderer.knows('referral.created', '2026-11-02')).toBe(false);
});

test('renders exactly these bytes, because receivers verify a signature over them', () => {
  expect(render('referral.created', sampleOf('referral.created')).toString()).toBe(
    '{"id":"gid://service/WebhookEvent/5","type":"referral.created","version":"2026-11-01","timestamp":"2026-11-20T08:00:00.000Z","data":{"referralId":"gid://service/Referral/4711","externalReference":"CRM-2026/0815 Müller 🏡"}}',
  );
});

test('omits fields that a newer build has added to the snapshot', () => {
  const newer = { referral: { ...referral, secretNote: 'x' }, source: 'api' };
  expect(render('referral.created', newer)).toEqual(render('referral.created', sampleOf('referral.created')));
});

test.each<[string, string, unknown]>([
  ['an empty snapshot', 'referral.created', {}],
  ['null', 'referral.created', null],
  ['the snapshot of another type', 'referral.created', sampleOf('lender.updated')],
  ['a missing field', 'referral.created', { referral: { id: referral.id, status: 'OPEN' } }],
  ['an id of another type', 'referral.created', { referral: { ...referral, id: teamMember.id } }],
  ['a field of the wrong type', 'lender.updated', { lender: { ...lender, name: 7 } }],
  ['an invalid time', 'referral.declined', { ...sampleOf('referral.declined'), declinedAt: 'yesterday' }],
  ['a payload that is too large', 'webhook.test', { message: 'x'.repeat(256_000) }],
  ['an unknown type', 'referral.lost', {}],
  ['the name of an inherited property', 'constructor', {}],
])('rejects %s', (_, type, snapshot) => {
  expect(() => render(type, snapshot)).toThrow(RenderError);
});

test('rejects an unknown version', () => {
  expect(() => render('referral.created', sampleOf('referral.created'), '2026-11-02')).toThrow(RenderError);
});

test('accepts at most 256 kB', () => {
  const without = render('webhook.test', { message: '' }).length;
  expect(render('webhook.test', { message: 'x'.repeat(256_000 - without) })).toHaveLength(256_000);
  expect(() => render('webhook.test', { message: 'x'.repeat(256_001 - without) })).toThrow('256001 bytes');
});

const failing = () => render('team_member.added', { lender, teamMember: { ...teamMember, id: 'ada-at-home' } });

test('names the invalid field in the error, without its value', () => {
  expect(failing).toThrow(RenderError);
  expect(failing).toThrow('data.teamMember.id');
  expect(failing).not.toThrow('ada-at-home');
});
