import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { issueCredential, pauseWebhookSubscription } from '@deedwire/actions';
import { apiKeyPattern } from '@deedwire/auth';
import { abilities } from '@deedwire/core';
import { joinSharedSystem, type SharedSystem } from '@deedwire/dev-environment/test/firm/harness';
import { firm } from '@deedwire/firm';
import { addTeamMember } from '@deedwire/firm/lender';
import { convertReferral } from '@deedwire/firm/partner';
import {
  eventsPath,
  readDeliveryHeaderDescriptions,
  type Example,
  type Exchange,
  type InterfaceContract,
  type InterfaceVersion,
} from '@deedwire/generate';
import { credentialHeaders, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createExampleIds, type ExampleIds } from './support/example-ids.ts';
import { layout, referenceContracts } from './support/reference-contracts.ts';

/*
 * Sends every example of the reference to a running system and compares the response with the one that the reference shows.
 * `vitest -u` records the responses. Each version gets its own accounts, so that identifiers can be numbered in the same order
 * on every run. Other values that change between runs are replaced below.
 */

const workspaceRoot = join(import.meta.dirname, '../../../..');
const exampleCallbackUrl = 'https://hooks.example.com/deedwire';
const exampleSubscription = 'gid://service/WebhookSubscription/1';
const exampleSecret = `whsec_${Buffer.from('not a secret but an example of it').toString('base64')}`;
const exampleApiKey = 'dw_<interface>_<key id>_<secret>_<checksum>';
const exampleToken = 'AnExampleOfTheShapeOfATokenThatNobodyIssued';
const exampleTimes: Readonly<Record<string, string>> = {
  createdAt: '2026-11-02T16:05:12.480Z',
  endsAt: '2026-11-03T10:30:00.052Z',
  expiresAt: '2026-11-03T16:05:12.480Z',
  numberedUntil: '2026-11-03T09:29:00.000Z',
  startedAt: '2026-11-03T09:30:00.052Z',
};
const exampleTime = '2026-11-03T09:30:00.000Z';

const versions = referenceContracts.flatMap((contract) =>
  contract.versions.map((version) => ({ contract, version, name: contract.name, date: version.version })),
);

describe.each(versions)('$name $date', ({ contract, version }) => {
  let t: SharedSystem;
  let receiver: Receiver;
  let headers: Record<string, string>;

  beforeAll(async () => {
    t = await joinSharedSystem();
    receiver = await startReceiver();
    await t.pretendMail();
    const { id: accountId } = t.accounts[contract.name];
    headers = credentialHeaders(await issueCredential(t.operator, { accountId, clientId: null, abilities }));
  });

  afterAll(async () => {
    await t.close();
    await receiver.close();
  });

  test('responds to every example as the reference shows', async () => {
    const ids = createExampleIds();
    const { accountId } = t.accounts[contract.name];
    // Requests name the seeded referrals, in the order in which they were created.
    t.referrals.forEach((id) => ids.toExample(id));
    const send = (sent: Sent) => sendExample({ url: t.urls[contract.name], headers, receiver, ids, version }, sent);
    const expectExample = async (sent: Sent): Promise<void> => {
      const before = await t.eventsOfRequests(accountId);
      await expectResponse(sent, await send(sent));
      if (sent.kind === 'mutation')
        await expectEvents(sent, (await t.eventsOfRequests(accountId)).slice(before.length));
    };

    for (const sent of inPhase(version, 'create')) await expectExample(sent);
    await causeEvent(t, contract, version, send);
    const [delivery] = await receiver.waitFor(1);
    expect(ownHeaderNames(delivery?.headers ?? {})).toEqual(
      Object.keys(readDeliveryHeaderDescriptions(layout.payloads ?? ''))
        .map((name) => name.toLowerCase())
        .toSorted(),
    );
    ids.toExample(String(delivery?.headers['webhook-id']));
    const readDelivery = inPhase(version, 'read').find(({ operation }) => operation === 'webhookDelivery');
    if (readDelivery === undefined) throw new Error('The reference has no example of webhookDelivery.');
    // The details of the attempt follow its result.
    await expect.poll(() => send(readDelivery)).toMatch(/"status": "DELIVERED".*"exchange": \{/s);
    // The use of a key is recorded after the response.
    const readKeys = inPhase(version, 'read').find(({ operation }) => operation === 'apiKeys');
    if (readKeys === undefined) throw new Error('The reference has no example of apiKeys.');
    await expect.poll(() => send(readKeys)).toContain('"lastUsedFrom": "203.0.113.10"');
    for (const phase of ['read', 'change', 'replay', 'delete'] as const) {
      // So that the replay does not end before it is cancelled.
      if (phase === 'replay')
        await pauseWebhookSubscription(t.operator, t.operator.operator, { id: ids.toReal(exampleSubscription) });
      for (const sent of inPhase(version, phase)) await expectExample(sent);
    }
  });

  test('accepts the command of a page of the reference', async () => {
    const path = `docs/reference/${contract.name}/${version.version}/mutation-createPortalLink.md`;
    const [, command = ''] = /```sh\n(.*?)\n```/s.exec(readFileSync(join(workspaceRoot, path), 'utf8')) ?? [];
    const credentials = Object.entries(headers).map(([name, value]) => [
      name
        .replace(/^.+-(?=Client|API|Organization)/, '')
        .replaceAll('-', '_')
        .toUpperCase(),
      value,
    ]);
    const { stdout } = await promisify(execFile)('sh', ['-c', command], {
      env: { ...Object.fromEntries(credentials), PATH: process.env['PATH'], DEEDWIRE_URL: t.urls[contract.name] },
    });
    expect(JSON.parse(stdout)).toMatchObject({ data: { createPortalLink: { userErrors: [] } } });
  });
});

type Phase = 'create' | 'read' | 'change' | 'replay' | 'delete';

/** The examples of a version form one story: they create a record, read it after an event, change it and delete it. */
function phaseOf({ kind, operation }: Example): Phase {
  if (/replay/i.test(operation)) return 'replay';
  if (kind === 'query') return 'read';
  if (operation.startsWith('create')) return 'create';
  return operation.startsWith('delete') ? 'delete' : 'change';
}

type Sent = Omit<Example, 'exchanges'> & Exchange;

function inPhase(version: InterfaceVersion, phase: Phase): Sent[] {
  const examples = version.examples.filter((example) => phaseOf(example) === phase);
  // What is replayed is read afterwards.
  return (phase === 'replay' ? examples.toSorted((a, b) => orderOfReplay(a) - orderOfReplay(b)) : examples).flatMap(
    ({ exchanges, ...example }) => exchanges.map((exchange) => ({ ...example, ...exchange })),
  );
}

const orderOfReplay = ({ operation }: Example): number =>
  ['replayWebhookEvents', 'cancelWebhookReplay', 'webhookReplay', 'webhookReplays'].indexOf(operation);

async function causeEvent(
  t: SharedSystem,
  { name }: InterfaceContract,
  { examples }: InterfaceVersion,
  send: (sent: Sent) => Promise<string>,
): Promise<void> {
  if (name === 'partner') return void (await convertReferral(t.operator, { referralId: t.referrals[0] ?? '' }));
  if (name !== 'lender') {
    // The account changes itself.
    const update = examples.find(({ operation }) => /^update(?!Webhook)/.test(operation));
    const [exchange] = update?.exchanges ?? [];
    if (update === undefined || exchange === undefined) throw new Error('No example causes an event.');
    return void (await send({ ...update, ...exchange }));
  }
  const person = { firstName: 'Dai', lastName: 'Wei', email: 'dai.wei@northwind.example' };
  await addTeamMember(t.operator, { lenderId: t.accounts.lender.id, ...person });
}

/** Returns the names of the headers, except those that belong to the transport. */
function ownHeaderNames(headers: object): string[] {
  const transport = ['accept-encoding', 'connection', 'content-length', 'host'];
  return Object.keys(headers)
    .filter((name) => !transport.includes(name))
    .toSorted();
}

interface Sender {
  url: string;
  /** The credentials of a client. */
  headers: Record<string, string>;
  receiver: Receiver;
  ids: ExampleIds;
  version: InterfaceVersion;
}

async function sendExample(
  { url, headers, receiver, ids, version: { version } }: Sender,
  { document, variables }: Sent,
): Promise<string> {
  const body = JSON.stringify({ query: document, variables });
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      Accept: 'application/graphql-response+json',
      'Content-Type': 'application/json',
      'X-Service-Schema-Version': version,
      ...headers,
    },
    body: ids.toReal(body).replaceAll(exampleCallbackUrl, receiver.url),
  });
  expect(response.headers.get('X-Service-Schema-Version')).toBe(version);
  const text = ids.toExample(await response.text()).replaceAll(receiver.url, exampleCallbackUrl);
  // The reference describes `extensions.cost` once, for all operations.
  const { extensions, ...shown }: Record<string, unknown> = JSON.parse(text, (key, value) => stable(ids, key, value));
  expect(extensions).toEqual({ cost: expect.any(Object) });
  return `${JSON.stringify(shown, null, 2)}\n`;
}

async function expectResponse({ operation, result, responsePath }: Sent, response: string): Promise<void> {
  const { errors, data } = JSON.parse(response);
  const hasUserErrors = data?.[operation]?.userErrors?.length > 0;
  expect({ responsePath, errors, hasUserErrors }).toEqual({
    responsePath,
    errors: undefined,
    hasUserErrors: result === 'user-errors',
  });
  await expect(response).toMatchFileSnapshot(join(workspaceRoot, responsePath));
}

/** The reference names the events of an example. One that causes none has no file. */
async function expectEvents(sent: Sent, types: readonly string[]): Promise<void> {
  const file = join(workspaceRoot, eventsPath(sent));
  if (types.length === 0 && !existsSync(file)) return;
  await expect(`${JSON.stringify(types)}\n`).toMatchFileSnapshot(file);
}

const exampleDurations: Readonly<Record<string, number>> = { durationMs: 38, connectMs: 11, firstByteMs: 25 };

/** Replaces values that change between runs with a fixed value of the same form. */
function stable(ids: ExampleIds, key: string, value: unknown): unknown {
  if (Number.isInteger(value)) return exampleDurations[key] ?? value;
  if (typeof value !== 'string') return value;
  if (key === 'webhookSecret' && /^whsec_[A-Za-z0-9+/]{43}=$/.test(value)) return exampleSecret;
  if (key === 'cursor' || key === 'endCursor') return ids.toExampleCursor(value);
  if (key === 'apiKeySecret' && apiKeyPattern(firm).test(value)) return exampleApiKey;
  // Versions share the examples of an edition.
  if (key === 'lastUsedVersion') return '2026-11-01';
  if ((key === 'remoteAddress' || key === 'lastUsedFrom') && value === '127.0.0.1') return '203.0.113.10';
  if (key === 'value' && !Number.isNaN(Date.parse(value)) && value.endsWith(' GMT'))
    return 'Tue, 03 Nov 2026 09:30:00 GMT';
  if (key === 'payload' || key === 'preview')
    return JSON.stringify(JSON.parse(value, (inner, part) => stable(ids, inner, part)));
  if (key === 'url') return value.replace(/portal\/\d+\/#link=[\w-]{43}$/, `portal/1/#link=${exampleToken}`);
  if (key === 'reference') return value.replace(/^M-\d{4}-\d{6}$/, 'M-2026-000001');
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value) ? (exampleTimes[key] ?? exampleTime) : value;
}
