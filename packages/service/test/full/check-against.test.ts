import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

// The repository of an application, with the clinic as its release v1, on the command line.

const root = join(import.meta.dirname, '../..');
const patient = (path: string): string => `deedwire/patient/${path}`;
const [ownSdl, manifest, module] = [
  patient('own/2026-11-01.graphql'),
  patient('own/2026-11-01.manifest.json'),
  patient('2026-11-01.ts'),
];
const contractCheck = 'node_modules/@deedwire/contract-check';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'deedwire-against-'));
  await cp(join(root, '../../examples/clinic/deedwire'), join(folder, 'deedwire'), { recursive: true });
  await write('package.json', '{ "name": "clinic", "version": "1.0.0", "type": "module", "private": true }');
  await write('.gitignore', 'node_modules\n');
  await mkdir(join(folder, 'node_modules/@deedwire'), { recursive: true });
  await symlink(root, join(folder, 'node_modules/@deedwire/service'));
  await symlink(join(root, '../contract-check'), join(folder, contractCheck));
  await git('init', '--quiet', '--initial-branch=main');
  await commit('release');
  await git('tag', 'v1');
  return () => rm(folder, { recursive: true });
});
beforeEach(async () => {
  await git('checkout', '--quiet', '--force', '-B', 'main', 'v1');
  await git('clean', '--quiet', '--force', '-d');
});

const git = (...args: readonly string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], { cwd: folder });

async function commit(message: string): Promise<void> {
  await git('add', '--all');
  await git('commit', '--quiet', '--message', message);
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
}

async function edit(path: string, ...replacements: readonly (readonly [from: RegExp | string, to: string])[]) {
  const before = await readFile(join(folder, path), 'utf8');
  let text = before;
  for (const [from, to] of replacements) {
    const after = text.replace(from, to);
    if (after === text) throw new Error(`${path} has no ${String(from)}.`);
    text = after;
  }
  await writeFile(join(folder, path), text);
}

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `deedwire`, and resolves with its exit code and what it prints. */
async function deedwire(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const command = ['--conditions=deedwire-source', join(root, 'src/bin.ts'), ...args];
  // The command that runs the tests names the packages of the workspace there.
  const { NODE_PATH: _, ...env } = process.env;
  const ran = promisify(execFile)(process.execPath, command, { cwd: folder, env });
  return ran.then(
    ({ stdout, stderr }) => ({ code: 0, output: `${stdout}${stderr}` }),
    ({ code, stdout, stderr }: Ended) => ({ code, output: `${stdout}${stderr}` }),
  );
}

async function generate(): Promise<void> {
  expect(await deedwire('generate')).toMatchObject({ code: 0 });
}

const passes = (output: unknown) => ({ code: 0, output });
const fails = (...texts: readonly string[]) => ({
  code: 1,
  output: expect.toSatisfy(
    (output: string) => texts.every((text) => output.includes(text)),
    `contains ${texts.join(' and ')}`,
  ),
});

/** To a current version, with its ability, its cost and its code. */
async function addField(): Promise<void> {
  await edit(ownSdl, ['  appointments: [', '  next: [Appointment!]!\n  appointments: [']);
  await edit(
    manifest,
    ['"Query.appointments": [', '"Query.next": ["READ"], "Query.appointments": ['],
    ['"Query.appointments": 100', '"Query.next": 1, "Query.appointments": 100'],
  );
  await edit(module, [
    "  query('app",
    "  query('next', (t) => t.field({ type: [Appointment], resolve: () => [] }));\n  query('app",
  ]);
}

test('a current version may gain a field with its ability and its cost, and a preview may change', async () => {
  await addField();
  await edit('deedwire/service.ts', [
    /reason: z.string\(\) \}\) \}\),\n {6}render/,
    'reason: z.string(), room: z.string() }) }),\n      render',
  ]);
  await generate();
  expect(await deedwire('check', '--against', 'v1')).toEqual(
    passes(expect.stringMatching(/minor {2}Query\.next\n[^]*minor[^]*room[^]*Passed/)),
  );
});

test.each<[what: string, breakIt: () => Promise<void>, texts: string[]]>([
  [
    'a field that can be null now',
    async () => {
      await edit(ownSdl, [/(type Appointment \{[^}]*)startsAt: DateTime!/, '$1startsAt: DateTime']);
      await edit(module, ["{ type: 'DateTime' })", "{ type: 'DateTime', nullable: true })"]);
    },
    ['major  Appointment.startsAt', 'patient/2026-11-01.graphql:', 'add a new version'],
  ],
  [
    'another ability of a field',
    () => edit(manifest, ['"Query.appointments": ["READ"]', '"Query.appointments": ["WRITE"]']),
    ['major  /abilities/Query.appointments', 'add a new version'],
  ],
  [
    'a payload without a member, generated anew',
    async () => {
      await rm(join(folder, 'deedwire/events/appointment.booked/2026-11-01.json'));
      await edit(
        'deedwire/service.ts',
        ['data: z.object({ appointmentId: z.string(), startsAt', 'data: z.object({ startsAt'],
        ['({ appointmentId: id, startsAt })', '({ startsAt })'],
      );
    },
    ['appointmentId', 'events/appointment.booked/2026-11-01.json:', 'add a new version'],
  ],
  [
    'a released version that is a preview again',
    () => edit('deedwire/service.ts', ["status: 'current'", "status: 'preview'"]),
    ['major  appointment.booked/2026-11-01', 'from current to preview'],
  ],
  [
    'an interface that is no longer there',
    async () => {
      await edit(
        'deedwire/service.ts',
        [
          / {4}patient: \{[^]*?\n {4}\},/,
          "    doctor: { title: 'Doctor', account: 'Doctor', versions: { '2026-11-01': {} } },",
        ],
        ["interfaces: ['patient']", "interfaces: ['doctor']"],
      );
      await git('mv', 'deedwire/patient', 'deedwire/doctor');
      await rm(join(folder, 'deedwire/doctor/own'), { recursive: true });
      await cp(join(root, 'common/2026-11-01.graphql'), join(folder, 'deedwire/doctor/2026-11-01.graphql'));
      await edit('deedwire/service.ts', ["clientActions: ['appointment.book'],", '']);
      await generate();
    },
    ['The version was removed', 'breaks a released version'],
  ],
])('%s breaks a release', async (_, breakIt, texts) => {
  await breakIt();
  await generate();
  await commit('break');
  expect(await deedwire('check', '--against', 'v1')).toEqual(fails(...texts, 'Failed: clinic'));
});

test('a release without the status of its versions is compared by those that are current', async () => {
  for (const path of [patient('versions.json'), 'deedwire/events/versions.json']) await rm(join(folder, path));
  await commit('as earlier releases generated it');
  await generate();
  expect(await deedwire('check', '--against', 'HEAD')).toEqual(
    passes(
      expect.stringMatching(
        /^HEAD has no deedwire\/events\/versions\.json[^]*only current versions are compared[^]*Passed/m,
      ),
    ),
  );
  await edit(manifest, ['"Query.appointments": ["READ"]', '"Query.appointments": ["WRITE"]']);
  expect(await deedwire('check', '--against', 'HEAD')).toEqual(fails('major  /abilities/Query.appointments'));
});

/** Of the interface in `service.ts`, with what the first one has besides its module. */
const versions = (lifecycle: string): string =>
  `versions: { '2026-11-01': { ${lifecycle}serve: () => import('./patient/2026-11-01.ts') }, '2026-12-01': { edition: '2026-11-01', serve: () => import('./patient/2026-12-01.ts') } }`;

test('a version ends after a deprecation and a sunset that were released', async () => {
  const deprecated = "status: 'deprecated', deprecatedOn: '2026-10-01', sunsetOn: '2026-11-15'";
  await edit('deedwire/service.ts', [/versions: \{ '2026-11-01'.*/, `${versions('')},`]);
  await generate();
  await commit('a second date');
  await edit('deedwire/service.ts', [versions(''), versions("status: 'retired', ")]);
  await rm(join(folder, patient('2026-11-01.graphql')));
  await generate();
  expect(await deedwire('check', '--against', 'HEAD')).toEqual(fails('retire it once the sunset has passed'));
  await edit('deedwire/service.ts', [versions("status: 'retired', "), versions(`${deprecated}, `)]);
  await generate();
  await commit('a deprecation');
  await edit('deedwire/service.ts', ["status: 'deprecated'", "status: 'retired'"]);
  await rm(join(folder, patient('2026-11-01.graphql')));
  await generate();
  expect(await deedwire('check', '--against', 'HEAD')).toEqual(passes(expect.stringContaining('Passed')));
});

describe('in a repository with Changesets', () => {
  beforeEach(async () => {
    await write('.changeset/config.json', JSON.stringify({ baseBranch: 'main', privatePackages: { version: true } }));
    await edit('package.json', ['1.0.0', '1.1.0']);
    await commit('version 1.1.0');
    await addField();
    await generate();
  });

  test('a change of a contract needs a changeset', async () => {
    expect(await deedwire('check', '--against')).toEqual(
      fails('need a minor bump, but no bump is declared', 'changeset add --minor clinic'),
    );
    await write('.changeset/next.md', '---\n"clinic": minor\n---\n\nYour next appointments.\n');
    for (const commits of [[], ['HEAD']])
      expect(await deedwire('check', '--against', ...commits)).toEqual(passes(expect.stringContaining('Passed')));
  });
});

test('names what it lacks: generated files, a release, a commit, and contract-check', async () => {
  expect(await deedwire('check', '--against')).toEqual({
    code: 1,
    output: expect.stringMatching(
      /^ok .+\nerror: Only a repository with Changesets has a latest release\. Name what is deployed/,
    ),
  });
  expect(await deedwire('check', '--against', 'v2')).toEqual({
    code: 1,
    output: expect.stringMatching(
      /^ok .+\nerror: v2 is no commit, tag or branch of the repository \S+\. If the clone is shallow/,
    ),
  });
  await edit(ownSdl, ['startsAt: DateTime!', 'startsAt: DateTime']);
  expect(await deedwire('check', '--against', 'v1')).toEqual(fails('2026-11-01.graphql is out of date'));
  await git('checkout', '--quiet', '--force', '.');
  await rm(join(folder, contractCheck));
  const missing = await deedwire('check', '--against', 'v1');
  await symlink(join(root, '../contract-check'), join(folder, contractCheck));
  expect(missing).toEqual({
    code: 1,
    output: expect.stringContaining(
      'error: @deedwire/contract-check is not installed: `npm install --save-dev @deedwire/contract-check`.',
    ),
  });
});
