import { toRecordId, type EventSnapshots } from '@deedwire/domain';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { expect, test } from 'vitest';
import { knownEventVersions, RenderError, renderPayload } from './render-payload.ts';

const occurredAt = '2026-11-20T08:00:00.000Z';
const referral = { id: 'gid://service/Referral/1', externalReference: 'CRM-7' };
const lender = { id: 'gid://service/Lender/2', name: 'Lender' };
const teamMember = { id: 'gid://service/TeamMember/3', firstName: 'Ada', lastName: 'Lovelace', email: 'a@b.example' };

const snapshots: EventSnapshots = {
  'lender.updated': { lender },
  'referral.converted': {
    referral: { ...referral, status: 'CONVERTED' },
    matter: { id: 'gid://service/Matter/4', reference: 'M-2026-000004', openedAt: occurredAt },
    convertedAt: occurredAt,
  },
  'referral.created': { referral: { ...referral, status: 'OPEN' } },
  'referral.declined': { referral: { ...referral, status: 'DECLINED' }, declinedAt: occurredAt, reason: null },
  'team_member.added': { lender, teamMember },
  'team_member.removed': { lender, teamMember },
  'team_member.updated': { lender, teamMember },
  'webhook.test': { message: 'Hello.' },
};

const render = (type: string, snapshot: unknown, version = '2026-11-01') =>
  renderPayload('service', { id: toRecordId('5'), type, occurredAt: new Date(occurredAt), snapshot }, version);

const known = knownEventVersions.types.map((type, index) => [type, knownEventVersions.versions[index] ?? ''] as const);

// What is published has to be sent by somebody, and nothing is sent that is not published.
test('every version of every published event type has its renderer, and no other', () => {
  const published = webhookEventTypes.flatMap(({ type, versions }) =>
    versions.flatMap(({ version, status }) => (status === 'retired' ? [] : [`${type} ${version}`])),
  );
  expect(known.map((pair) => pair.join(' ')).toSorted()).toEqual(published.toSorted());
});

test('the renderers at 2026-11-01, by name', () => {
  expect(known.filter(([, version]) => version === '2026-11-01').map(([type]) => type)).toEqual([
    'lender.updated',
    'referral.converted',
    'referral.created',
    'referral.declined',
    'team_member.added',
    'team_member.removed',
    'team_member.updated',
    'webhook.test',
  ]);
});

test.each(known)('%s at %s is rendered as published', (type, version) => {
  const snapshot = new Map<string, unknown>(Object.entries(snapshots)).get(type);
  expect(JSON.parse(render(type, snapshot, version).toString())).toMatchObject({
    id: 'gid://service/WebhookEvent/5',
    type,
    version,
    timestamp: occurredAt,
  });
});

test('the bytes are pinned: receivers verify what was signed, and we send the same again', () => {
  expect(render('referral.created', snapshots['referral.created']).toString()).toBe(
    '{"id":"gid://service/WebhookEvent/5","type":"referral.created","version":"2026-11-01","timestamp":"2026-11-20T08:00:00.000Z","data":{"referralId":"gid://service/Referral/1","externalReference":"CRM-7"}}',
  );
});

test('a newer build may have written more: it is not sent', () => {
  const { referral: known_ } = snapshots['referral.created'];
  const newer = { referral: { ...known_, secretNote: 'x' }, source: 'api' };
  expect(render('referral.created', newer)).toEqual(render('referral.created', snapshots['referral.created']));
});

test.each<[string, string, unknown]>([
  ['nothing', 'referral.created', {}],
  ['null', 'referral.created', null],
  ['another snapshot', 'referral.created', snapshots['lender.updated']],
  ['a field that is missing', 'referral.created', { referral: { id: referral.id, status: 'OPEN' } }],
  ['an id of another type', 'referral.created', { referral: { ...referral, id: teamMember.id } }],
  ['a number', 'lender.updated', { lender: { ...lender, name: 7 } }],
  ['no time', 'referral.declined', { ...snapshots['referral.declined'], declinedAt: 'yesterday' }],
  ['too much', 'webhook.test', { message: 'x'.repeat(256_000) }],
  ['an unknown type', 'referral.lost', {}],
  ['a name that every object has', 'constructor', {}],
])('%s is no snapshot to render', (_, type, snapshot) => {
  expect(() => render(type, snapshot)).toThrow(RenderError);
});

test('an unknown version cannot be rendered', () => {
  expect(() => render('referral.created', snapshots['referral.created'], '2026-11-02')).toThrow(RenderError);
});

test('the largest payload is 256 kB', () => {
  const without = render('webhook.test', { message: '' }).length;
  expect(render('webhook.test', { message: 'x'.repeat(256_000 - without) })).toHaveLength(256_000);
  expect(() => render('webhook.test', { message: 'x'.repeat(256_001 - without) })).toThrow('256001 bytes');
});

const failing = () => render('team_member.added', { lender, teamMember: { ...teamMember, id: 'ada-at-home' } });

test('the error says where, and repeats nothing of what the event holds', () => {
  expect(failing).toThrow(RenderError);
  expect(failing).toThrow('data.teamMember.id');
  expect(failing).not.toThrow('ada-at-home');
});
