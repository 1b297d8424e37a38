import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { nestedChoices } from '../../test/support/chains.ts';
import {
  ago,
  api,
  buildOf,
  counted,
  environmentOf,
  exported,
  sdl,
  sha256,
  signed,
  worker,
} from '../../test/support/environment.ts';
import { cutsOf, refusedBuilds } from '../../test/support/export-cuts.ts';
import { folderForFile, writeIn } from '../../test/support/folders.ts';
import { git } from '../../test/support/git.ts';
import { run } from '../cli/run.ts';
import type { Build } from './generated/files.ts';

// The ages in the texts.
vi.useFakeTimers({ toFake: ['Date'] });
afterAll(() => vi.useRealTimers());

const folder = folderForFile();
const file = (name: string, content: object | string) => writeIn(folder, name, content);

const hour = 3_600_000;
const day = 24 * hour;

type Changes = NonNullable<Parameters<typeof environmentOf>[1]>;

interface Asked {
  /** The builds that are live. */
  readonly live?: readonly Build[];
  /** What else differs in the environment. */
  readonly changes?: Changes;
  /** The text of the file, if it is not that of such an environment. */
  readonly environment?: string;
  readonly builds?: readonly Build[];
  readonly args?: readonly string[];
}

function ask(command: string, { live, changes, environment, builds = [], args = [] }: Asked) {
  const text = environment ?? exported(environmentOf(live, changes));
  const files = builds.flatMap((build) => ['--build', file(`${build.app}.json`, build)]);
  return run([command, '--environment', file('production.json', text), '--root', folder, ...files, ...args]);
}

const canIDeploy = (asked: Asked) => ask('can-i-deploy', asked);
const canIRetire = (asked: Asked) => ask('can-i-retire', { args: ['customer@2026-11-01'], ...asked });

/** An answer with each of its texts in one line. */
async function unwrapped(answering: ReturnType<typeof run>) {
  const { exitCode, stdout } = await answering;
  return { exitCode, stdout: stdout.replaceAll(/\n {4}/g, ' ') };
}

type Contents = Parameters<typeof buildOf>[2];
const apiWith = (changes: Contents): Build => buildOf('customer-api', '0.6.0', { ...api, ...changes });
const workerWith = (contents: Contents): Build => buildOf('webhook-worker', '0.5.0', contents);
const newApi = apiWith({});
const without = (...left: readonly string[]): Build =>
  apiWith({ serves: Object.fromEntries(Object.entries(api.serves).filter(([version]) => !left.includes(version))) });
const withSdl = (text: string): Build => apiWith({ serves: { ...api.serves, '2026-11-01': text } });
const pin = { id: 'sub_1', account: 'acc_1', interface: 'customer', event: 'entry.posted@2026-11-01', version: null };
const client = { id: 'client_1', account: 'acc_1', interface: 'customer', event: null, version: '2026-11-01' };
const use = {
  client: 'client_2',
  account: 'acc_1',
  interface: 'customer',
  version: '2026-11-01',
  coordinate: null,
  firstDay: ago(60 * day).slice(0, 10),
  lastDay: ago(50 * day).slice(0, 10),
  count: 4,
};
const [livingApi, livingWorker] = [buildOf('customer-api', '0.5.0', api), buildOf('webhook-worker', '0.4.1', worker)];
const living = [livingApi, livingWorker];

test('says yes with the builds that it checked, and the age of the evidence', async () => {
  const { exitCode, stdout } = await canIDeploy({ builds: [newApi] });
  expect({ exitCode, stdout: stdout.replaceAll(/\d{4}-.*?Z/g, 'TIME') }).toEqual({
    exitCode: 0,
    stdout: `yes: customer-api 0.6.0 fits production.
Evidence: production, taken 20 s ago (TIME): customer-api 0.5.0
    (production, seen 40 s ago), webhook-worker 0.4.1 (production, seen 40 s ago).
`,
  });
});

test('says that no build has registered', async () => {
  const { processes } = environmentOf();
  const changes = { processes: processes.map((process) => ({ ...process, digest: null })), contracts: {} };
  const { exitCode, stdout } = await canIDeploy({ changes, builds: [newApi] });
  expect({ exitCode, stdout: stdout.replaceAll(/\d{4}-.*?Z/g, 'TIME') }).toEqual({
    exitCode: 3,
    stdout: expect.stringMatching(
      /\nEvidence: production, taken 20 s ago \(TIME\)\. It has no build to\s+check against\.\n$/,
    ),
  });
});

test('says no with the reason and what to deploy first', async () => {
  const archived = { ...api, appends: { 'order.archived': [] } };
  const asked = {
    live: [buildOf('customer-api', '0.4.0', api), livingWorker],
    builds: [buildOf('customer-api', '0.5.0', archived)],
  };
  const expected = `no: webhook-worker 0.4.1 (production, seen 40 s ago) does not know order.archived, which
    customer-api 0.5.0 appends. These events would wait.
`;
  expect(await canIDeploy(asked)).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`${expected}    Deploy a version of webhook-worker that fits first.\n`),
  });
  const next = workerWith({ renders: { ...worker.renders, 'order.archived@2026-11-01': [] } });
  expect(await canIDeploy({ ...asked, builds: [...asked.builds, next] })).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining(`${expected}    Deploy webhook-worker 0.5.0 first.\n`),
  });
});

test('all environments must say yes, and the answer names the one that does not', async () => {
  const first = exported(environmentOf(undefined, { cell: 0 }));
  const asked = (needsMigration: string | null) => {
    const second = file('cell-5.json', exported(environmentOf(undefined, { cell: 5, needsMigration })));
    return canIDeploy({ environment: first, builds: [newApi], args: ['--environment', second] });
  };
  expect(await asked(null)).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^yes: .* production\.\n[^]*^yes: .* production, cell 5\.\n/m),
  });
  expect(await asked('0048')).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(
      /^yes: .* production\.\n[^]*^no: [^]*would not start[^]*^Evidence: production, cell 5, taken/m,
    ),
  });
  const absent = ['--environment', join(folder, 'absent.json')];
  expect(await canIDeploy({ environment: first, builds: [newApi], args: absent })).toMatchObject({ exitCode: 3 });
});

test.each<readonly [what: string, build: Build, expected: string, changes: Changes]>([
  [
    'a build whose migration is missing',
    apiWith({ migration: '0049-b' }),
    'needs 0049-b. Apply the migrations first.',
    {},
  ],
  ['a build that a migration ended', newApi, 'would not start', { needsMigration: '0048' }],
  [
    'a writer of a type that a live worker does not know',
    apiWith({ appends: { ...api.appends, b: [] } }),
    'does not know b, which customer-api 0.6.0 appends',
    {},
  ],
  [
    'a writer of less than a live worker needs',
    apiWith({ appends: { 'entry.posted': ['kind'] } }),
    'cannot render entry.posted@2026-11-01 from what customer-api 0.6.0 appends: $.id',
    {},
  ],
  [
    'a pin that a live worker cannot render',
    apiWith({ pins: [...api.pins, 'entry.posted@2027-02-01'] }),
    'cannot render entry.posted@2027-02-01, which customer-api 0.6.0 accepts as a pin',
    {},
  ],
  [
    'a worker that drops a type that is appended',
    workerWith({ renders: { 'other@1': [] } }),
    'does not know entry.posted, which customer-api 0.5.0 (production',
    {},
  ],
  [
    'a worker that renders nothing',
    workerWith({}),
    'does not know entry.posted, which customer-api 0.5.0 (production',
    {},
  ],
  [
    'a worker that drops a version that is accepted',
    workerWith({ renders: { 'entry.posted@2026-01-01': [] } }),
    'cannot render entry.posted@2026-11-01',
    {},
  ],
  [
    'a worker that drops a version that is pinned',
    workerWith({ renders: { 'entry.posted@2026-11-01': [] } }),
    'which sub_1 pins',
    { pins: [{ ...pin, event: 'entry.posted@2026-01-01' }] },
  ],
  [
    'a worker that drops a version that is queued',
    workerWith({ renders: { 'entry.posted@2026-11-01': [] } }),
    'which is queued (3)',
    { queued: [{ type: 'entry.posted', event: 'entry.posted@2026-01-01', count: 3 }] },
  ],
  [
    'a worker that drops a type that is queued',
    workerWith(worker),
    'does not know old, which is queued (1)',
    { queued: [{ type: 'old', event: null, count: 1 }] },
  ],
  [
    'a worker that needs more than a live writer appends',
    workerWith({ renders: { ...worker.renders, 'entry.posted@2026-11-01': ['id', 'note'] } }),
    '$.note',
    {},
  ],
  [
    'an interface without a version that is pinned',
    without('2026-11-01'),
    'does not serve customer@2026-11-01. It is used by client_1.',
    { pins: [client] },
  ],
  [
    'an interface that no longer accepts a version of an event that is pinned',
    apiWith({ pins: [] }),
    'customer-api 0.6.0 does not accept entry.posted@2026-11-01, which sub_1 and 1 more pin.',
    { pins: [pin, { ...pin, id: 'sub_2' }, { ...pin, id: 'sub_3', interface: 'supplier' }] },
  ],
  ['an interface without a version that is used', without('2026-11-01'), 'It is used by client_2.', { uses: [use] }],
  [
    'an interface without a field of a version that is used',
    withSdl(sdl.replace('note: String ', '')),
    'breaks Entry.note of customer@2026-11-01',
    { uses: [use] },
  ],
  [
    'an interface without a deprecated field that is used',
    withSdl(sdl.replace(/total.*\)/, '')),
    'breaks Entry.total',
    { uses: [{ ...use, coordinate: 'Entry.total' }] },
  ],
])('says no for %s, and for no other reason', async (_what, build, expected, changes) => {
  const answer = await unwrapped(canIDeploy({ builds: [build], changes }));
  expect(answer).toEqual({ exitCode: 1, stdout: expect.stringContaining(expected) });
  expect(answer.stdout.match(/^no: /gm)).toHaveLength(1);
});

test.each([
  ['an interface without an unused version', without('2027-02-01'), { uses: [use] }],
  [
    'an interface without an unused deprecated field',
    withSdl(sdl.replace(/total.*\)/, '')),
    { uses: [use], pins: [client] },
  ],
  ['an older build after an expanding migration', newApi, { migration: '0049-b' }],
  ['a worker without an unused version', workerWith({ renders: { 'entry.posted@2026-11-01': ['id'] } }), {}],
  [
    'an interface that no longer accepts an event version without pins',
    apiWith({ pins: [] }),
    { pins: [{ ...pin, interface: 'supplier' }] },
  ],
  ['an app whose process runs only now and then', buildOf('operator-cli', '0.1.0', {}), {}],
  ['a use before the window', without('2026-11-01'), { uses: [{ ...use, lastDay: '2020-01-01' }] }],
])('says yes for %s', async (_what, build, changes) => {
  expect(await canIDeploy({ builds: [build], changes })).toMatchObject({ exitCode: 0 });
});

test('checks every live build, not the newest, and the rollback in both orders', async () => {
  const old = buildOf('webhook-worker', '0.3.0', { renders: { 'entry.posted@2026-11-01': ['id', 'note'] } });
  expect(await canIDeploy({ builds: [newApi], live: [...living, old] })).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('webhook-worker 0.3.0 (production'),
  });

  const stored = environmentOf([...living, old]);
  const environment = exported({ ...stored, processes: stored.processes.slice(0, 2) });
  expect(await canIDeploy({ builds: [newApi], environment })).toMatchObject({ exitCode: 0 });
  expect(
    await canIDeploy({ builds: [newApi], environment, args: ['--rollback', 'webhook-worker@0.3.0'] }),
  ).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('webhook-worker 0.3.0 (rollback) cannot render') });
  expect(await canIDeploy({ builds: [newApi], environment, args: ['--rollback', '0.1.0'] })).toMatchObject({
    exitCode: 3,
  });
});

test('asks whether the rollback fits the new build, without the versions that only the new build serves', async () => {
  const appending = workerWith({ ...worker, appends: { alert: [] }, renders: { ...worker.renders, 'alert@1': [] } });
  const live = [livingApi, { ...livingWorker, version: '0.3.0' }, livingWorker];
  expect(await unwrapped(canIDeploy({ builds: [appending], live, args: ['--rollback', '0.3.0'] }))).toEqual({
    exitCode: 1,
    stdout: expect.stringContaining(
      'webhook-worker 0.3.0 (rollback) does not know alert, which webhook-worker 0.5.0 appends',
    ),
  });
  const more = apiWith({ serves: { ...api.serves, '2027-06-01': sdl } });
  const uncounted = { builds: [more], changes: { counting: [] }, args: ['--rollback', '0.5.0'] };
  expect(await canIDeploy(uncounted)).toMatchObject({ exitCode: 0 });
});

const needs = {
  formatVersion: 1,
  consumer: 'portal',
  pin: '2026-11-01',
  schema: [
    {
      package: '@books/customer-schema',
      packageVersion: '1.0.0',
      file: 'versions/2026-11-01.graphql',
      sha256: sha256(sdl),
    },
  ],
  coordinates: { 'Query.entry': 'Entry', 'Entry.id': 'ID!' },
  operations: [{ name: 'A', variables: {}, text: 'query A { entry { id } }' }],
  events: [{ package: 'p', packageVersion: '1.0.0', file: 'f', sha256: 's', event: 'entry.posted@2026-11-01' }],
};

describe('a consumer', () => {
  const [used] = needs.schema;
  test.each([
    ['that has what it needs', {}, 0, 'yes: portal fits production.'],
    ['that lacks a version', { pin: '2026-01-01' }, 1, 'does not serve it'],
    [
      'that rejects its operations',
      { operations: [{ name: 'A', text: '{ entry { gone } }' }] },
      1,
      'rejects its operations: Cannot query field "gone"',
    ],
    [
      'that allows null',
      { coordinates: { 'Query.entry': 'Entry!' } },
      1,
      'has Query.entry of the type Entry, not Entry!',
    ],
    ['that lacks an enum value of a variable', { coordinates: { 'Kind.A': null } }, 1, 'lacks Kind.A'],
    [
      'that does not accept the version of its event',
      { events: [{ ...needs.events[0], event: 'entry.posted@2026-01-01' }] },
      1,
      'does not accept it as a pin',
    ],
    [
      'whose worker does not render its event',
      { events: [{ ...needs.events[0], event: 'entry.posted@2027-06-01' }] },
      1,
      'does not render it',
    ],
    [
      'for which nothing is live',
      { schema: [{ ...used, package: '@books/supplier-schema' }] },
      3,
      'for which no build is live',
    ],
    [
      'with another contract of the same version',
      { schema: [{ ...used, sha256: 'other' }] },
      3,
      'an unpublished contract',
    ],
    ['without a package', { schema: [{ ...used, package: null }] }, 3, 'an unpublished contract'],
  ])('asks each build, one %s', async (_what, changes, expected, text) => {
    const args = ['--consumer', file('uses.json', { ...needs, ...changes })];
    expect(await unwrapped(canIDeploy({ args }))).toEqual({
      exitCode: expected,
      stdout: expect.stringContaining(text),
    });
  });
});

test.each<[string, string, object | string]>([
  [
    'a GraphQL file with directives of Apollo Client',
    'a.graphql',
    'query A($id: ID) { entry @connection(key: "a") @mine(id: $id) { id note isOpen @client } }',
  ],
  [
    'a template of Relay',
    'a.tsx',
    'graphql`query A { entry { ...F @relay(mask: false) } }`; graphql`fragment F on Entry @inline { note }`',
  ],
  [
    'a manifest of Apollo',
    'a.json',
    { format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: '1', body: '{ entry { note } }' }] },
  ],
  ['hashes and texts of Relay or the client preset', 'a.json', { a1: 'query A { entry { note } }' }],
])('a consumer is asked about by what uses writes for %s', async (_what, name, content) => {
  file('schema/package.json', { name: '@books/customer-schema', version: '1.0.0' });
  const schema = file('schema/versions/2026-11-01.graphql', sdl);
  const consumer = join(folder, 'used.json');
  const places = ['--schema', schema, '--documents', file(name, content), '--output', consumer];
  expect(await run(['uses', '--consumer', 'portal', '--ignore-directive', 'mine', ...places])).toMatchObject({
    exitCode: 0,
  });
  const args = ['--consumer', consumer];
  expect(await canIDeploy({ args })).toMatchObject({ exitCode: 0 });
  const live = [
    buildOf('customer-api', '0.5.0', { ...api, serves: { '2026-11-01': sdl.replace('note: String', '') } }),
  ];
  expect(await unwrapped(canIDeploy({ live, args }))).toEqual({
    exitCode: 1,
    stdout: expect.stringContaining('rejects its operations: Cannot query field "note"'),
  });
});

test('a consumer whose event has reached its sunset has no version', async () => {
  const ended = { ...livingApi, pins: livingApi.pins.map((each) => ({ ...each, sunsetOn: '2020-06-01' })) };
  const answer = await canIDeploy({
    live: [ended, livingWorker],
    args: ['--consumer', file('uses.json', { ...needs, pin: null, schema: [], coordinates: {}, operations: [] })],
  });
  expect(answer).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('does not accept it as a pin') });
});

test.each([
  ['accepts no version of its event', { pins: [] }, { schema: [], operations: [] }, 'does not accept it as a pin'],
  ['serves nothing of its interface', { serves: [] }, { events: [] }, 'does not serve it'],
])('a consumer asks a live build, too, that %s', async (_what, lacking, changes, expected) => {
  const live = [{ ...livingApi, version: '0.4.0', ...lacking }, ...living];
  const consumer = file('uses.json', { ...needs, coordinates: {}, ...changes });
  expect(await unwrapped(canIDeploy({ live, args: ['--consumer', consumer] }))).toEqual({
    exitCode: 1,
    stdout: expect.stringContaining(`customer-api 0.4.0 (production, seen 40 s ago) ${expected}`),
  });
});

test('builds that are deployed together have to fit each other', async () => {
  const knowing = buildOf('webhook-worker', '0.4.1', { renders: { ...worker.renders, 'b@1': [] } });
  const answer = await canIDeploy({
    live: [livingApi, knowing],
    builds: [apiWith({ appends: { ...api.appends, b: [] } }), workerWith(worker)],
  });
  expect(answer).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('webhook-worker 0.5.0 does not know b, which customer-api 0.6.0 appends'),
  });
});

describe('a version', () => {
  const [version, event] = ['customer@2026-11-01', 'entry.posted@2026-11-01'];

  test.each<[what: string, changes: Changes, args: string[], expected: string]>([
    ['that a client pins', { pins: [client] }, [version], 'client_1 pins customer@2026-11-01.'],
    ['that a client used', { uses: [use] }, [version], 'client_2 used customer@2026-11-01 on'],
    ['that is deprecated for less', {}, [version, '--unused-for', '9999d'], 'is deprecated since 2020-01-01 only'],
    ['of an event that a subscription pins', { pins: [pin] }, [event], 'sub_1 pins entry.posted@2026-11-01.'],
    ['of an event that is queued', { queued: [{ type: 'entry.posted', event, count: 2 }] }, [event], '2 deliveries'],
  ])('cannot be retired: one %s', async (_what, changes, args, expected) => {
    expect(await unwrapped(canIRetire({ changes, args }))).toEqual({
      exitCode: 1,
      stdout: expect.stringContaining(expected),
    });
  });

  test.each([version, event])('an unused version can be retired: %s', async (subject) => {
    expect(await canIRetire({ args: [subject] })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`yes: ${subject} can be retired in production.`),
    });
  });

  test('is unknown if no build serves it', async () => {
    expect(await canIRetire({ args: ['customer@2020-01-01'] })).toMatchObject({ exitCode: 3 });
  });
});

const counting = (from: number, until = 60_000, overflowed = false) => ({
  app: 'customer-api',
  from: ago(from),
  until: ago(until),
  ...counted,
  overflowed,
});

describe('the counts of use', () => {
  const gapOn = (days: number, ms: number) => {
    const from = Math.floor((Date.now() - days * day) / day) * day + 6 * hour;
    return {
      app: 'customer-api',
      from: new Date(from).toISOString(),
      until: new Date(from + ms).toISOString(),
      reason: 'kill',
    };
  };
  test.each([
    ['counting shorter than the window', { counting: [counting(9 * day)] }, 'has counted use for 8 d, not for 90 d'],
    ['no counting', { counting: [] }, 'customer-api did not count use.'],
    [
      'gaps of two instances that are long together',
      { gaps: [gapOn(9, 400_000), gapOn(9, 400_000)] },
      `2 instances did not count use on ${ago(9 * day).slice(0, 10)}.`,
    ],
    [
      'gaps on several days',
      { gaps: [gapOn(9, 3 * day)] },
      `1 instance did not count use from ${ago(9 * day).slice(0, 10)} to ${ago(6 * day).slice(0, 10)}.`,
    ],
    [
      'a time in which no instance counted',
      { counting: [counting(100 * day, 9 * day), counting(8 * day)] },
      'no instance counted use',
    ],
    [
      'an overflow',
      { counting: [counting(100 * day), counting(9 * day, 8 * day, true)] },
      '1 instance did not count use',
    ],
    ['counts that ended', { counting: [counting(100 * day, 2 * hour)] }, 'no instance counted use'],
  ])('are not complete: %s', async (_what, changes, expected) => {
    expect(await unwrapped(canIRetire({ changes }))).toEqual({
      exitCode: 3,
      stdout: expect.stringContaining(expected),
    });
    expect(await canIDeploy({ builds: [without('2026-11-01')], changes })).toMatchObject({ exitCode: 3 });
  });

  test('are not complete for a field that was deprecated within the window', async () => {
    const [later = counting(0)] = environmentOf().counting;
    const before = { ...counting(100 * day, 2 * day), coordinates: '2027-02-01 Entry.total' };
    const changes = { counting: [before, { ...later, from: ago(2 * day) }] };
    const builds = [withSdl(sdl.replace(/total.*\)/, ''))];
    expect(await unwrapped(canIDeploy({ builds, changes }))).toEqual({
      exitCode: 3,
      stdout: expect.stringContaining('customer-api has counted use for 1 d, not for 90 d.'),
    });
  });

  test('are complete with short gaps, which the answer lists', async () => {
    const changes = { gaps: [gapOn(9, 400_000)] };
    const [yes, no] = [
      await canIRetire({ changes }),
      await canIRetire({ changes, args: ['customer@2026-11-01', '--max-gap', '0'] }),
    ];
    expect(yes).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('    customer-api did not count use for 6 min on 20'),
    });
    expect(no).toMatchObject({ exitCode: 3 });
  });
});

test('a queue that is too long is unknown for a worker and for an event, and not for others', async () => {
  const changes = { isQueueCut: true };
  expect(await canIDeploy({ changes, builds: [workerWith(worker)] })).toMatchObject({ exitCode: 3 });
  expect(await canIRetire({ changes, args: ['entry.posted@2026-11-01'] })).toMatchObject({ exitCode: 3 });
  expect(await canIDeploy({ changes, builds: [newApi] })).toMatchObject({ exitCode: 0 });
});

test('what is queued decides about a worker, and not about what an API appends from now on', async () => {
  const renders = { 'entry.posted@2026-11-01': ['id'], 'entry.posted@2026-01-01': ['id', 'kind'] };
  const live = [buildOf('customer-api', '0.5.0', api), buildOf('webhook-worker', '0.4.1', { renders })];
  const queued = [{ type: 'entry.posted', event: 'entry.posted@2026-01-01', count: 1 }];
  const environment = exported(environmentOf(live, { queued }));
  const leaner = apiWith({ appends: { 'entry.posted': ['id'] } });
  const { 'entry.posted@2026-11-01': rendered } = renders;
  const dropping = workerWith({ renders: { 'entry.posted@2026-11-01': rendered } });
  expect(await canIDeploy({ environment, builds: [leaner] })).toMatchObject({ exitCode: 0 });
  expect(await canIDeploy({ environment, builds: [dropping] })).toMatchObject({ exitCode: 1 });
});

describe('an unknown answer', () => {
  const base = environmentOf();
  const [first, ...others] = base.processes;
  test.each<[what: string, environment: object | string, expected: string]>([
    [
      'an expected app without a process',
      { expectedApps: [...base.expectedApps, 'supplier-api'] },
      'supplier-api has no live process',
    ],
    [
      'a process without a registered build',
      { processes: [{ ...first, digest: null }, ...others] },
      'customer-api 0.5.0 (production, seen 40 s ago) did not register its build',
    ],
    [
      'a digest without contracts',
      { processes: [{ ...first, digest: 'a'.repeat(64) }, ...others] },
      'whose contracts are missing',
    ],
    [
      'a live build with an invalid schema',
      exported(
        environmentOf([buildOf('customer-api', '0.5.0', { serves: { '2026-11-01': 'type Query {' } }), livingWorker]),
      ),
      'whose contracts are invalid',
    ],
    ['an old file', { takenAt: ago(2 * hour) }, 'was taken 2 h ago, but --max-age is 1 h'],
    ['a file from the future', { takenAt: ago(-2 * hour) }, 'is from the future'],
    ['another environment', { environment: 'staging' }, 'is of the environment staging, not of production'],
    ['a truncated file', exported(base).slice(0, -40), 'is not JSON, or is truncated'],
    ['an empty file', '', 'is not JSON, or is truncated'],
    ['another digest', exported(base).replace('"0.4.1"', '"0.4.2"'), 'has another digest than it states'],
    [
      'contracts with another digest',
      {
        contracts: Object.fromEntries(
          Object.entries(base.contracts).map(([digest, build]) => [digest, { ...build, appends: [] }]),
        ),
      },
      'have another digest',
    ],
    [
      'fewer rows than stated',
      signed({
        ...base,
        rowCounts: Object.fromEntries(
          ['expectedApps', 'processes', 'contracts', 'pins', 'queued', 'uses', 'counting', 'gaps'].map((list) => [
            list,
            2,
          ]),
        ),
      }),
      'has another number of pins than it states',
    ],
    [
      'a prototype in place of members',
      signed({ ...JSON.parse('{"__proto__":{"formatVersion":1}}') }),
      'required property',
    ],
    [
      'a digest that names a member of every object',
      { processes: [{ ...first, digest: '__proto__' }, ...others] },
      'whose contracts are missing',
    ],
    ['a deeply nested file', '['.repeat(200_000) + ']'.repeat(200_000), 'nested too deeply'],
    [
      'a deeply nested member',
      exported(base).replace('{', `{"more":${'['.repeat(9000)}${']'.repeat(9000)},`),
      'nested too deeply',
    ],
    ['a list of another type', { pins: {} }, 'must be array'],
    ['an offset that is none', { takenAt: '2020-01-01T00:00:00+99:99' }, 'must be a time'],
    ['a time that is none', { takenAt: '2026-99-99T00:00:00Z' }, 'must be a time'],
    ['a text', '"production"', 'must be object'],
    ['100 MB', `{"a":"${'x'.repeat(100_000_000)}"}`, 'has 100000008 bytes'],
  ])('says in one line why: %s', async (_what, environment, expected) => {
    const { exitCode, stdout, stderr } = await canIDeploy({
      builds: [newApi],
      environment: typeof environment === 'string' ? environment : exported({ ...base, ...environment }),
      args: ['--name', 'production'],
    });
    const [line = ''] = stdout.replaceAll(/\n {4}/g, ' ').split('\n');
    expect({ exitCode, line, stderr }).toEqual({ exitCode: 3, line: expect.stringContaining(expected), stderr: '' });
    expect(line).toMatch(/^unknown: /);
  });

  test('is that of an app or a rollback that is unknown, with the known ones', async () => {
    const misspelled = { ...newApi, app: 'partnr-api' };
    expect(await canIDeploy({ builds: [misspelled] })).toMatchObject({
      exitCode: 3,
      stdout: expect.stringMatching(
        /^unknown: partnr-api is no app of production: customer-api, webhook-worker,\s+operator-cli\.\n/,
      ),
    });
    expect(await canIDeploy({ builds: [newApi], args: ['--rollback', 'partnr-api@0.5.0'] })).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining('    Those that are: customer-api@0.5.0, webhook-worker@0.4.1.\n'),
    });
  });

  test('is that of a rollback whose schema is invalid, which is not named as a way out either', async () => {
    const broken = buildOf('customer-api', '0.4.0', { serves: { '2026-11-01': 'type Query {' } });
    const stored = environmentOf([...living, broken]);
    const environment = exported({ ...stored, processes: stored.processes.slice(0, 2) });
    expect(await canIDeploy({ builds: [newApi], environment, args: ['--rollback', '0.4.0'] })).toMatchObject({
      exitCode: 3,
    });
    const consumer = file('uses.json', { ...needs, pin: '2026-01-01' });
    expect(await canIDeploy({ environment, args: ['--consumer', consumer] })).toMatchObject({ exitCode: 1 });
  });

  test.each<[string, object, string]>([
    ['takes too long to compare', nestedChoices(5), 'is unknown: snapshot: the schemas at $ combine in too many ways'],
    ['is invalid', { type: 'text' }, 'is unknown: snapshot:1: /type must be a type name'],
  ])('is that of a snapshot that %s', async (_, snapshot, problem) => {
    const writer = { ...newApi, appends: [{ type: 'entry.posted', snapshot }] };
    expect(await unwrapped(canIDeploy({ builds: [writer] }))).toMatchObject({
      exitCode: 3,
      stdout: expect.stringContaining(problem),
    });
  });

  test('is that of a file that does not exist, and an invalid build is an error', async () => {
    const args = ['can-i-retire', 'customer@2026-11-01', '--environment', join(folder, 'none.json')];
    expect(await run(args)).toMatchObject({
      exitCode: 3,
      stdout: expect.stringMatching(/^unknown: .*none\.json:\n? +file not found\.\n$/),
    });
    for (const subject of ['customer', 'customer@', ''])
      expect(await canIRetire({ args: [subject] })).toMatchObject({ exitCode: 2, stdout: '' });
    for (const build of ['{', '[]', { formatVersion: 1 }, { ...newApi, serves: [{}] }])
      expect(await canIDeploy({ args: ['--build', file('invalid.json', build)] })).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringMatching(/^.*invalid\.json: .*\n$/),
      });
  });
});

test('an exception for one pair overrules an answer once it is merged, until it expires', async () => {
  const build = apiWith({ appends: { ...api.appends, b: [] } });
  const json = await canIDeploy({ builds: [build], args: ['--format', 'json'] });
  const { rule, package: name, file: place, coordinate } = JSON.parse(json.stdout).findings[0];
  expect({ rule, name, place, coordinate }).toEqual({
    rule: 'deploy/typeUnknown',
    name: 'customer-api@0.6.0',
    place: 'production',
    coordinate: 'webhook-worker@0.4.1 b',
  });
  const exception = {
    rule,
    package: name,
    file: place,
    coordinate,
    reason: 'The worker follows in an hour.',
    expiresOn: '2099-01-01',
    approvedBy: 'Ada',
  };
  file('contract-exceptions.json', { exceptions: [exception] });
  const root = folder;
  git(root, 'init', '--quiet');
  file('a.txt', 'a');
  git(root, 'add', 'a.txt');
  git(root, 'commit', '--quiet', '--message', 'First');
  expect(await canIDeploy({ builds: [build] })).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('It applies once an earlier pull request has added it'),
  });
  git(root, 'add', 'contract-exceptions.json');
  git(root, 'commit', '--quiet', '--message', 'Second');
  expect(await canIDeploy({ builds: [build] })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(
      /yes: [^]*excepted: [^]*applied  customer-api@0\.6\.0 production webhook-worker@0\.4\.1 b \(deploy\/typeUnknown\)[^]*Approved by Ada/,
    ),
  });
  expect(await canIDeploy({ builds: [newApi] })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('unused '),
  });
  expect(await canIDeploy({ builds: [build], args: ['--today', '2099-01-02'] })).toMatchObject({
    exitCode: 1,
    stdout: expect.stringContaining('expired  '),
  });
});

test('cutting a member, or an item or a member of it, out of an export turns no answer into yes', async () => {
  for (const { build, environment } of refusedBuilds()) {
    const answer = (text: string) => canIDeploy({ builds: [build], environment: text, args: ['--max-gap', '0'] });
    expect(await answer(environment)).not.toMatchObject({ exitCode: 0 });
    for (const { path, text } of cutsOf(environment, 2))
      expect({ path, ...(await answer(text)) }).not.toMatchObject({ path, exitCode: 0 });
  }
});
