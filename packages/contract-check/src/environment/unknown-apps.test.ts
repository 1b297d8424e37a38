import { describe, expect, test } from 'vitest';
import { nestedChoices } from '../../test/support/chains.ts';
import { ago, api, buildOf, environmentOf, exported, sdl, sha256, worker } from '../../test/support/environment.ts';
import { folderForFile, writeIn } from '../../test/support/folders.ts';
import { run } from '../cli/run.ts';
import type { Build } from './generated/files.ts';
import { snapshotFit } from './snapshot-fit.ts';

const folder = folderForFile();
const file = (name: string, content: object | string) => writeIn(folder, name, content);

const apps = [
  { app: 'customer-api', interface: 'customer', package: '@books/customer-schema', renders: false },
  { app: 'supplier-api', interface: 'supplier', package: '@books/supplier-schema', renders: false },
  { app: 'webhook-worker', interface: null, package: null, renders: true },
];
const customerApi = buildOf('customer-api', '0.5.0', api);
const supplierApi = buildOf('supplier-api', '0.5.0', { pins: api.pins });
const liveWorker = buildOf('webhook-worker', '0.4.1', worker);

/** Too deep for the stack, unless V8 has compiled the reader: then it is the form that is wrong. */
const deep: object = Array.from({ length: 5000 }).reduce<object>((inner) => ({ inner }), {});

/** An environment in which the supplier API has contracts that a login of it has stored. */
function withContracts(contracts: object, { app = 'supplier-api', live = liveWorker } = {}) {
  const whole = environmentOf([customerApi, supplierApi, live], { apps });
  const digest = sha256(`${JSON.stringify(contracts, null, 2)}\n`);
  return {
    ...whole,
    contracts: { ...whole.contracts, [digest]: contracts },
    processes: [...whole.processes, { app, version: '9.9.9', digest, startedAt: ago(90_000), lastSeenAt: ago(30_000) }],
  };
}

async function ask(environment: ReturnType<typeof environmentOf>, ...args: readonly string[]) {
  const { exitCode, stdout } = await run([
    ...args.slice(0, 1),
    '--environment',
    file('production.json', exported(environment)),
    '--root',
    folder,
    ...args.slice(1),
  ]);
  return { exitCode, stdout: stdout.replaceAll(/\n {4}/g, ' ') };
}

const askAbout = (environment: ReturnType<typeof environmentOf>, build: Build) =>
  ask(environment, 'can-i-deploy', '--build', file('contracts.json', build));

const forged = (contents: Parameters<typeof buildOf>[2]) => buildOf('supplier-api', '9.9.9', contents);

describe.each<[what: string, contracts: object, why: string | RegExp]>([
  ['of no form', { app: 'supplier-api' }, "must have required property 'formatVersion'"],
  ['nested deeply', { app: 'supplier-api', deep }, /nested too deeply|must have required property 'formatVersion'/],
  ['of a worker', forged(worker), '/renders must be empty: supplier-api renders no events'],
  [
    'of another interface',
    forged({ serves: { '2026-11-01': 'type Query { a: Int }' } }),
    '/serves must not contain customer of @books/customer-schema',
  ],
  ['of another version', { ...forged({}), version: '9.9.8' }, 'whose contracts are missing'],
])('a build with contracts %s', (_what, contracts, why) => {
  const environment = withContracts(contracts);

  test('does not change the answers about another interface, which mention it', async () => {
    const yes = {
      exitCode: 0,
      stdout: expect.stringMatching(/Not part of this answer: supplier-api 9\.9\.9 \(production, seen/),
    };
    expect(await askAbout(environment, { ...customerApi, version: '0.6.0' })).toEqual(yes);
    expect(await ask(environment, 'can-i-retire', 'customer@2026-11-01')).toEqual(yes);
  });

  test('makes the answers unknown that depend on it, and is named with the reason', async () => {
    const unknown = { exitCode: 3, stdout: expect.stringMatching(/^unknown: supplier-api 9\.9\.9 /) };
    const answer = await askAbout(environment, { ...supplierApi, version: '0.6.0' });
    expect(answer).toEqual(unknown);
    expect(answer.stdout).toMatch(why);
    expect(await askAbout(environment, { ...liveWorker, version: '0.5.0' })).toEqual(unknown);
    expect(await ask(environment, 'can-i-retire', 'supplier@2026-11-01')).toMatchObject({ exitCode: 3 });
    expect(await ask(environment, 'can-i-retire', 'entry.posted@2026-11-01')).toEqual(unknown);
  });
});

const unreadable = withContracts({ app: 'supplier-api' });

test('an unknown app affects a build of another one that accepts a new pin', async () => {
  const pins = [...api.pins, 'entry.posted@2026-01-01'];
  expect(await askAbout(unreadable, buildOf('customer-api', '0.6.0', { ...api, pins }))).toEqual({
    exitCode: 3,
    stdout: expect.stringContaining('unknown: supplier-api 9.9.9'),
  });
});

test('an unknown app affects a build that appends less than a version needs, which no known build accepts', async () => {
  const renders = { ...worker.renders, 'entry.posted@2025-01-01': ['id', 'note'] };
  const live = buildOf('webhook-worker', '0.4.1', { renders });
  const build = buildOf('customer-api', '0.6.0', api);
  expect(await askAbout(environmentOf([customerApi, supplierApi, live], { apps }), build)).toMatchObject({
    exitCode: 0,
  });
  expect(await askAbout(withContracts({ app: 'supplier-api' }, { live }), build)).toEqual({
    exitCode: 3,
    stdout: expect.stringContaining('unknown: supplier-api 9.9.9'),
  });
});

test('an unknown worker affects each build that appends events', async () => {
  const environment = withContracts({ app: 'webhook-worker' }, { app: 'webhook-worker' });
  expect(await askAbout(environment, { ...customerApi, version: '0.6.0' })).toEqual({
    exitCode: 3,
    stdout: expect.stringContaining('unknown: webhook-worker 9.9.9'),
  });
  expect(await askAbout(environment, buildOf('operator-cli', '0.6.0', {}))).toMatchObject({ exitCode: 0 });
});

const published = (name: string, text: string) => ({
  package: `@books/${name}`,
  packageVersion: '1.0.0',
  file: name === 'customer-schema' ? 'versions/2026-11-01.graphql' : 'f',
  sha256: sha256(text),
});

test('an unknown app affects a consumer of its interface or of events', async () => {
  const uses = {
    formatVersion: 1,
    consumer: 'portal',
    pin: '2026-11-01',
    schema: [published('customer-schema', sdl)],
    coordinates: { 'Entry.id': 'ID!' },
    operations: [{ name: 'A', text: 'query A { entry { id } }' }],
    events: [] as object[],
  };
  const askFor = (changes: object) =>
    ask(unreadable, 'can-i-deploy', '--consumer', file('uses.json', { ...uses, ...changes }));
  expect(await askFor({})).toMatchObject({ exitCode: 0 });
  expect(await askFor({ schema: [published('supplier-schema', '')] })).toMatchObject({ exitCode: 3 });
  expect(await askFor({ events: [{ ...published('events', ''), event: 'entry.posted@2026-11-01' }] })).toEqual({
    exitCode: 3,
    stdout: expect.stringContaining('unknown: supplier-api 9.9.9'),
  });
});

test('an app whose rows are not all exported is unknown', async () => {
  const incomplete = [{ app: 'supplier-api', reason: '3 rows of pins are malformed' }];
  const environment = environmentOf([customerApi, supplierApi, liveWorker], { apps, incomplete });
  expect(await askAbout(environment, { ...supplierApi, version: '0.6.0' })).toEqual({
    exitCode: 3,
    stdout: expect.stringContaining(
      'unknown: Not everything about supplier-api is known: 3 rows of pins are malformed.',
    ),
  });
  expect(await askAbout(environment, { ...customerApi, version: '0.6.0' })).toMatchObject({ exitCode: 0 });
});

test('a valid build that appends too little does not change the answer about another app', async () => {
  const environment = withContracts(forged({ appends: { 'entry.posted': [] } }));
  expect(await askAbout(environment, { ...customerApi, version: '0.6.0' })).toMatchObject({ exitCode: 0 });
});

const withStatus = (status: object) => ({ type: 'object', properties: { status }, required: ['status'] });

test('a snapshot has values that a renderer does not list, or fewer of them', () => {
  const fit = snapshotFit();
  const needs = withStatus({ type: 'string', enum: ['OPEN', 'PAID'] });
  expect(fit('supplier-api', withStatus({ enum: ['OPEN', 'PAID', 'LOST'] }), 'webhook-worker', needs)).toEqual({
    rule: 'deploy/snapshotInsufficient',
    problem: '$.status: The value "LOST" was added.',
  });
  expect(fit('supplier-api', withStatus({ enum: ['OPEN'] }), 'webhook-worker', needs)).toBeNull();
  const anyStatus = withStatus({ type: 'string' });
  expect(fit('supplier-api', anyStatus, 'webhook-worker', needs)).toMatchObject({
    rule: 'deploy/snapshotInsufficient',
  });
  expect(fit('supplier-api', needs, 'webhook-worker', anyStatus)).toBeNull();
});

test('comparisons of two apps share their steps, and leave those of others', () => {
  const fit = snapshotFit();
  const needs = { type: 'object' };
  const problems = [1, 2, 3, 4].map((title) =>
    fit('supplier-api', { ...nestedChoices(5), title: `${title}` }, 'webhook-worker', needs),
  );
  expect(problems.at(-1)).toEqual({
    rule: 'deploy/snapshotNotCompared',
    problem: 'comparing the contracts of supplier-api and webhook-worker takes more than 4000000 steps.',
  });
  expect(fit('customer-api', { type: 'object' }, 'webhook-worker', needs)).toBeNull();
});
