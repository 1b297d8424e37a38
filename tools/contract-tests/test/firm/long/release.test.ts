import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/test/firm/harness';
import { convertReferral } from '@deedwire/firm/partner';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { succeed } from '../../support/command.ts';
import { createConsumers, type ConsumerProject, type Consumers } from '../../support/consumer-project.ts';
import { findNode20 } from '../../support/node-20.ts';
import { publishedPackages } from '../../support/packed-packages.ts';
import { startRegistry, type TestRegistry } from '../../support/registry.ts';
import { copyWorkspace, type WorkspaceCopy } from '../../support/workspace-copy.ts';

const apps = ['@deedwire/lender-api', '@deedwire/operator-cli', '@deedwire/partner-api', '@deedwire/webhook-worker'];

const lenderSdl = 'packages/lender-schema/own/2026-11-01.graphql';

// The tests build on each other, in order. Each runs many programs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

let registry: TestRegistry;
let workspace: WorkspaceCopy;
/** The version of each package in the first and in the second release. */
let first: Map<string, string>;
let second: Map<string, string>;

beforeAll(async () => {
  registry = await startRegistry();
  workspace = await copyWorkspace({ npm_config_userconfig: registry.publisherConfig });
});

afterAll(async () => {
  await workspace.remove();
  await registry.close();
});

function release(...options: string[]): Promise<string> {
  return workspace.pnpm('--silent', 'release', '--registry', registry.url, ...options);
}

async function cutVersions(): Promise<Map<string, string>> {
  await workspace.pnpm('run', 'version');
  await workspace.commitAll('Version packages');
  return workspace.versions();
}

/** Starts a release and kills its process group when it begins to publish a package. */
async function releaseKilledAt(name: string): Promise<void> {
  const begun = registry.stallPublishing(name);
  const child = spawn('node', ['scripts/release.ts', '--registry', registry.url], {
    cwd: workspace.folder,
    detached: true,
    env: { ...process.env, ...workspace.env, TMPDIR: await workspace.scratchFolder() },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await Promise.race([begun, ended]);
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await ended;
  registry.resumePublishing();
}

/** Returns the lines of a text that start with a word, sorted. */
function linesOf(text: string, word = ''): string[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line.startsWith(word))
    .toSorted();
}

function addField(sdl: string): string {
  return sdl.replace(/^type Lender \{\n/m, '$&  "Motto of the lender."\n  motto: String\n');
}

/** Adds the field to both versions and to the schema that the app serves. */
async function addServedField(): Promise<void> {
  await workspace.edit(lenderSdl, addField);
  await workspace.edit(lenderSdl.replace('2026-11-01', '2027-02-01'), addField);
  await workspace.edit('apps/lender-api/src/schema/lender.ts', (text) =>
    text.replace("id: t.exposeID('id'),", '$&\n      motto: t.string({ nullable: true, resolve: () => null }),'),
  );
}

/** That of a field that no manifest names. */
function renameField(sdl: string): string {
  return sdl.replace(/(^type Lender \{[^}]*?)\bid: ID!/m, '$1key: ID!');
}

/** The number of published versions of each package. */
async function countVersions(): Promise<number[]> {
  const published = await Promise.all(publishedPackages.map((name) => registry.versionsOf(name)));
  return published.map((versions) => versions.length);
}

/** What comes after the package at which the first release is killed, and this one. In the order of their names. */
const left = ['@deedwire/service', '@deedwire/webhook-receiver', '@deedwire/webhook-signing'];

describe('first release', () => {
  test('`pnpm release` rejects pending changesets', async () => {
    await workspace.writeChangeset('pending', 'patch', '@deedwire/webhook-signing');
    await expect(release('--dry-run')).rejects.toThrow(
      /^Changesets are pending \(.*\bpending\.md\b.*\)\. Run `pnpm run version` and commit the result first\.$/m,
    );
  });

  test('`pnpm run version` writes versions, changelogs and release records from the changesets', async () => {
    first = await cutVersions();
    expect(await workspace.git('ls-files', '.changeset')).toBe('.changeset/config.json\n');
    const written = ['CHANGELOG.md', 'releases.json'];
    expect(await workspace.git('ls-files', ...written.map((path) => `packages/lender-schema/${path}`))).toBe(
      'packages/lender-schema/CHANGELOG.md\npackages/lender-schema/releases.json\n',
    );
    const changed = await workspace.git('diff', '--name-only', '--diff-filter=d', 'HEAD~1');
    await workspace.pnpm('exec', 'oxfmt', '--check', ...changed.trim().split('\n'));
  });

  test('`pnpm release` publishes and tags one package after the other', async () => {
    await releaseKilledAt('@deedwire/webhook-signing');
    expect(await countVersions()).toEqual([1, 1, 1, 0, 1, 0, 0]);
    expect(linesOf(await workspace.git('tag'))).toEqual(
      publishedPackages.filter((name) => !left.includes(name)).map((name) => `${name}@${first.get(name)}`),
    );
  });

  test('`pnpm release --dry-run` lists each package that it would publish and tag, and does neither', async () => {
    const tags = await workspace.git('tag');
    const output = await release('--dry-run');
    expect(linesOf(output, 'would publish')).toEqual(left.map((name) => `would publish ${name}@${first.get(name)}`));
    expect(linesOf(output, 'would tag')).toEqual(
      [...left, ...apps].map((name) => `would tag ${name}@${first.get(name)}`).toSorted(),
    );
    expect(await workspace.git('tag')).toBe(tags);
    expect(await countVersions()).toEqual([1, 1, 1, 0, 1, 0, 0]);
  });

  test('`pnpm release` completes a release that was killed after four of seven packages', async () => {
    const output = await release();
    expect(linesOf(output, 'published')).toEqual(left.map((name) => `published ${name}@${first.get(name)}`));
    const now = await Promise.all(publishedPackages.map((name) => registry.versionsOf(name)));
    expect(now).toEqual(publishedPackages.map((name) => [first.get(name)]));
    expect(linesOf(await workspace.git('tag'))).toEqual(
      [...publishedPackages, ...apps].map((name) => `${name}@${first.get(name)}`).toSorted(),
    );
  });

  test('`pnpm release` does nothing after a complete release', async () => {
    expect(await release()).toBe('Everything is released.\n');
  });

  test('`pnpm release` rejects a contract that changed after its version was raised', async () => {
    await workspace.edit('packages/partner-schema/package.json', (text) =>
      text.replace(/("version": "\d+\.\d+\.)\d+"/, '$198"'),
    );
    await workspace.commitAll('Raise a version');
    await workspace.edit('packages/partner-schema/versions/2026-11-01.graphql', (text) =>
      text.replace('"""\n', '"""\nNew. '),
    );
    await workspace.commitAll('Change the contract');
    await expect(release()).rejects.toThrow(/@deedwire\/partner-schema \d+\.\d+\.98: .*\n +changed since:/);
    await workspace.git('reset', '--quiet', '--hard', 'HEAD~2');
  });
});

describe('second release', () => {
  test('`pnpm run version` rejects a patch changeset for a change that needs a minor bump', async () => {
    await workspace.edit(lenderSdl, addField);
    await workspace.pnpm('generate', 'composed-contracts', 'schema-packages');
    await workspace.writeChangeset('motto', 'patch', '@deedwire/lender-schema');
    await expect(cutVersions()).rejects.toThrow('the changes need a minor bump, but only a patch bump is declared.');
    expect(await workspace.versions()).toEqual(first);
  });

  test('`pnpm release` rejects a patch bump made by hand for a change that needs a minor bump', async () => {
    // Edits the version by hand, and deletes the changeset.
    await workspace.edit('packages/lender-schema/package.json', (text) =>
      text.replace(/("version": "\d+\.\d+\.)\d+"/, '$199"'),
    );
    await workspace.git('clean', '--quiet', '--force', '.changeset');
    await workspace.commitAll('Edit the version by hand');
    await expect(release()).rejects.toThrow('the changes need a minor bump, but only a patch bump is declared.');
    expect(await registry.versionsOf('@deedwire/lender-schema')).toEqual([first.get('@deedwire/lender-schema')]);
    await workspace.git('reset', '--quiet', '--hard', 'HEAD~1');
  });

  test('`pnpm run version` rejects a breaking change to a released version even with a major changeset', async () => {
    await workspace.edit(lenderSdl, renameField);
    await workspace.pnpm('generate', 'composed-contracts');
    await workspace.writeChangeset('rename', 'major', '@deedwire/lender-schema');
    await expect(cutVersions()).rejects.toThrow(
      'versions/2026-11-01.graphql breaks a released version, which no bump allows.',
    );
    await workspace.git('reset', '--quiet', '--hard');
    await workspace.git('clean', '--quiet', '--force', '.changeset');
  });

  test('`pnpm release` publishes lender-schema and webhook-events, which changed, and no other package', async () => {
    await addServedField();
    await workspace.pnpm('generate', 'composed-contracts', 'schema-packages');
    await workspace.writeChangeset('motto', 'minor', '@deedwire/lender-schema');
    await expect(cutVersions()).rejects.toThrow(
      '@deedwire/lender-api serves this contract, but no bump of it is declared.',
    );
    await workspace.writeChangeset('served-motto', 'minor', '@deedwire/lender-api');
    await workspace.writeChangeset('wording', 'patch', '@deedwire/webhook-events');
    await workspace.commitAll('Add a motto');
    second = await cutVersions();
    const written = await workspace.git('show', '--format=', 'HEAD', '--', 'docs/reference/lender', '*/releases.json');
    expect(written).toContain('+        "Lender.motto"\n');
    expect(written).toMatch(
      new RegExp(`^\\+.*Motto of the lender\\..* Added in ${second.get('@deedwire/lender-schema')}\\.`, 'm'),
    );
    await workspace.edit('apps/lender-api/src/schema/lender.ts', (text) => text.replace('motto:', 'slogan:'));
    await workspace.commitAll('Serve another field');
    await expect(release()).rejects.toThrow('Lender.motto: The field is in the SDL, but not served.');
    await workspace.git('reset', '--quiet', '--hard', 'HEAD~1');
    expect(linesOf(await release(), 'published')).toEqual(
      ['@deedwire/lender-schema', '@deedwire/webhook-events'].map((name) => `published ${name}@${second.get(name)}`),
    );
    expect(await registry.versionsOf('@deedwire/lender-schema')).toEqual(
      [first, second].map((versions) => versions.get('@deedwire/lender-schema')),
    );
  });
});

describe('a fix of an older major', () => {
  const name = '@deedwire/webhook-signing';
  const nextMajor = (): string => `${Number((first.get(name) ?? '').split('.', 1)) + 1}.0.0`;

  test('`pnpm release` publishes a new major as `latest`', async () => {
    // A comparison of the fix with this version would find that the fix removes the code.
    await workspace.edit('packages/webhook-signing/error-codes.json', (text) =>
      text.replace('"HEADER_MISSING": {', '"HEADER_EMPTY": { "description": "A header is empty." },\n    $&'),
    );
    await workspace.writeChangeset('signing-major', 'major', name);
    await workspace.commitAll('Announce a major');
    const third = await cutVersions();
    expect(third.get(name)).toBe(nextMajor());
    // They depend on the package, so they get a new version with the new range.
    const dependents = ['@deedwire/service', '@deedwire/webhook-receiver'];

    // As the release workflow does it: one job packs, and another one, without dependencies, publishes and tags.
    const packed = join(await workspace.scratchFolder(), 'release');
    const sha256 = linesOf(await release('--pack', packed)).at(-1) ?? '';
    const files = await readdir(packed);
    expect(files.filter((file) => file.endsWith('.cdx.json'))).toHaveLength(apps.length);
    expect(files.filter((file) => file.endsWith('.tgz'))).toHaveLength(3);

    // Not below `node_modules`, where Node runs no TypeScript.
    const bare = await mkdtemp(join(tmpdir(), 'deedwire-bare-'));
    await workspace.git('clone', '--quiet', workspace.folder, bare);
    const publish = (...options: string[]): Promise<string> =>
      succeed('node', ['scripts/publish-release.ts', packed, '--registry', registry.url, ...options], {
        cwd: bare,
        env: workspace.env,
      });
    await expect(publish('--sha256', sha256.replace(/./, 'x'))).rejects.toThrow(`has the SHA-256 ${sha256}, not x`);
    const tarball = join(packed, files.find((file) => file.includes('webhook-signing')) ?? '');
    const original = await readFile(tarball);
    await writeFile(tarball, Buffer.concat([original, Buffer.from('\n')]));
    await expect(publish('--sha256', sha256)).rejects.toThrow('differs from release.json');
    expect(await publish('--sha256', sha256, '--tag').catch(String)).toContain('differs from release.json');
    expect(await registry.distTagsOf(name)).toEqual({ latest: first.get(name) });
    await writeFile(tarball, original);

    expect(linesOf(await publish('--sha256', sha256))).toEqual([
      ...dependents.map((each) => `published ${each}@${third.get(each)}`),
      `published ${name}@${nextMajor()}`,
    ]);
    expect(await publish('--sha256', sha256)).toContain(`${name}@${nextMajor()} is already published\n`);
    expect(await registry.distTagsOf(name)).toEqual({ latest: nextMajor() });
    await succeed('git', ['config', 'user.name', 'Tester'], { cwd: bare });
    await succeed('git', ['config', 'user.email', 'tester@example.com'], { cwd: bare });
    expect(await publish('--sha256', sha256, '--tag')).toContain(`tagged ${name}@${nextMajor()}\n`);
    await succeed('git', ['push', '--quiet', 'origin', '--tags'], { cwd: bare });
    await rm(bare, { recursive: true });
    expect(await release()).toBe('Everything is released.\n');
  });

  test('`pnpm release` publishes the fix from the tag of the older major, and `latest` stays', async () => {
    const older = first.get(name) ?? '';
    const [major, minor, patch] = older.split('.').map(Number);
    const fixed = `${major}.${minor}.${(patch ?? 0) + 1}`;
    await workspace.git('checkout', '--quiet', '-b', `maintenance/webhook-signing-${major}`, `${name}@${older}`);
    await workspace.writeChangeset('signing-fix', 'patch', name);
    await workspace.commitAll('Fix the older major');
    expect((await cutVersions()).get(name)).toBe(fixed);
    expect(linesOf(await release(), 'published')).toEqual([`published ${name}@${fixed} as latest-${major}`]);
    expect(await registry.distTagsOf(name)).toEqual({ latest: nextMajor(), [`latest-${major}`]: fixed });
    expect(await workspace.git('tag', '--points-at', 'HEAD')).toBe(`${name}@${fixed}\n`);
    expect(await release()).toBe('Everything is released.\n');
  });

  test('`pnpm release` compares a fix with the release before it in the older major', async () => {
    await workspace.edit('packages/webhook-signing/error-codes.json', (text) =>
      text.replace('HEADER_MISSING', 'HEADER_LOST'),
    );
    await workspace.edit('packages/webhook-signing/package.json', (text) =>
      text.replace(/("version": "\d+\.\d+\.)\d+"/, '$199"'),
    );
    await workspace.commitAll('Rename a code by hand');
    await expect(release()).rejects.toThrow('The versions are raised by less than the changes');
    await workspace.git('checkout', '--quiet', 'main');
  });
});

describe('consumers outside the workspace', () => {
  let system: TestSystem;
  let consumers: Consumers;
  let loanDesk: ConsumerProject;
  let broker: ConsumerProject;

  beforeAll(async () => {
    [system, consumers] = await Promise.all([startTestSystem(), createConsumers(registry.consumerConfig)]);
    loanDesk = await consumers.create('loan-desk', pinsOf(first));
    broker = await consumers.create('broker', pinsOf(second));
  });

  afterAll(() => Promise.all([system.close(), consumers.remove()]));

  test('install the first and the second release of lender-schema', async () => {
    const schema = '@deedwire/lender-schema';
    expect(first.get(schema)).not.toBe(second.get(schema));
    expect(await loanDesk.npm('ls', schema)).toContain(`${schema}@${first.get(schema)}\n`);
    expect(await broker.npm('ls', schema)).toContain(`${schema}@${second.get(schema)}\n`);
  });

  test('compile their operations and receive the same event in two versions', async () => {
    for (const project of [loanDesk, broker]) {
      await project.generate();
      await project.compile();
    }
    const { subscriptions, reports, conversion } = await convertWhileRunning([
      { project: loanDesk, node: process.execPath },
      { project: broker, node: process.execPath },
    ]);
    expect(subscriptions).toEqual([subscriptionAt('2026-11-01'), subscriptionAt('2027-02-01')]);
    expect(reports).toEqual([conversion, conversion]);
    // The id of the event does not depend on the version of its payload.
    expect(reports[0]).toEqual(reports[1]);
  });

  test('work on Node 20 with graphql 16', async (context) => {
    const node = await findNode20();
    if (node === null) {
      process.stdout.write('No Node 20 is on the PATH, so its test is skipped.\n');
      return context.skip();
    }
    await loanDesk.npm('install', 'graphql@16');
    expect(await loanDesk.npm('ls', 'graphql', '--depth=0')).toContain('graphql@16.');
    await loanDesk.compile();
    const { subscriptions, reports, conversion } = await convertWhileRunning([{ project: loanDesk, node }]);
    expect(subscriptions).toEqual([subscriptionAt('2026-11-01')]);
    expect(reports).toEqual([conversion]);
  });

  /** Runs consumers concurrently and converts a referral once all have subscribed. */
  async function convertWhileRunning(runs: { project: ConsumerProject; node: string }[]) {
    const { urls, accounts, operator, referrals } = system;
    const service = JSON.stringify({
      lender: { url: urls.lender, credential: accounts.lender.credential },
      partner: { url: urls.partner, credential: accounts.partner.credential },
    });
    const running = runs.map(({ project, node }) => project.start(node, service));
    try {
      const subscriptions = await Promise.all(running.map((consumer) => consumer.next()));
      const referral = referrals.shift() ?? '';
      const { matterId: matter } = await convertReferral(operator, { referralId: referral });
      const reports = await Promise.all(running.map((consumer) => consumer.next()));
      return { subscriptions, reports, conversion: { id: anEventGid, referral, matter } };
    } finally {
      for (const consumer of running) consumer.kill();
    }
  }
});

const anEventGid: unknown = expect.stringMatching(/^gid:\/\/service\/WebhookEvent\/\d+$/);

/** The line that a consumer prints after it has read its lender and subscribed. */
function subscriptionAt(version: string): object {
  return {
    lender: expect.any(String),
    team: expect.arrayContaining([expect.stringContaining('@')]),
    eventTypes: [{ type: 'referral.converted', version }],
  };
}

/** The exact versions of the packages that a consumer installs. */
function pinsOf(versions: ReadonlyMap<string, string>): Record<string, string> {
  const others = ['@deedwire/contract-check', '@deedwire/service'];
  const names = publishedPackages.filter((name) => !others.includes(name));
  return Object.fromEntries(names.map((name) => [name, versions.get(name) ?? '']));
}
