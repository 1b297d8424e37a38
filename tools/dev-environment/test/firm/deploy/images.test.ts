import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { appOf } from '@deedwire/core';
import { createTestDatabase } from '@deedwire/embedded-postgres';
import { interfaceNames } from '@deedwire/firm';
import { missing } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AppName } from '../../../src/firm/system.ts';
import { groupRole } from '../../../src/start-system.ts';
import { workspaceRoot } from '../../../src/workspace.ts';
import { buildImages, run, tryRun } from '../../deploy/support/containers.ts';
import { createHarness, type Harness } from '../harness/index.ts';
import { expectDelivery } from './support/journey.ts';

const context = inject('containers');
const containers = context ?? { env: {}, folder: '', images: {} };
const podman = (...podmanArguments: string[]): Promise<string> => run(containers, 'podman', podmanArguments);
const imageOf = (app: string): string => `localhost/deedwire/${app}:local`;
const apis = interfaceNames.map(appOf);
const apps = [...apis, 'webhook-worker', 'operator-cli'];

function manifestOf(app: string): { version: string; scripts: Record<string, string> } {
  return JSON.parse(readFileSync(join(workspaceRoot, 'apps', app, 'package.json'), 'utf8'));
}

const contractsIn = (folder: string): object => JSON.parse(readFileSync(join(folder, 'dist/contracts.json'), 'utf8'));

describe.skipIf(context === null)('the images', () => {
  const roots: Record<string, string> = {};
  let commit = '';

  beforeAll(async () => {
    const head = await run(containers, 'git', ['rev-parse', 'HEAD']);
    const changed = await run(containers, 'git', ['status', '--porcelain', '--untracked-files=no']);
    commit = changed === '' ? head : `${head}-modified`;
    for (const app of apps) roots[app] = await podman('image', 'mount', imageOf(app));
  });
  afterAll(() => podman('image', 'umount', '--all'));

  test('have the same digest when they are built again, with another umask and no cache', async () => {
    const again = await buildImages(containers, ['--no-cache', '--prefix=localhost/again'], { UMASK: '077' });
    expect(Object.keys(again)).toEqual(apps);
    expect(again).toEqual(containers.images);
    const digests = await Promise.all(
      ['deedwire', 'again'].map((prefix) =>
        podman(
          'image',
          'inspect',
          '--format={{.Digest}}',
          `localhost/${prefix}/lender-api:${manifestOf('lender-api').version}`,
        ),
      ),
    );
    expect(digests[0]).toMatch(/^sha256:/);
    expect(digests[1]).toBe(digests[0]);
  });

  test.each(apps)(
    '%s has its version and commit, a user without rights, and the command of its package',
    async (app) => {
      const [{ Config: config }]: [{ Config: Record<string, unknown> & { Labels: object; Entrypoint: string[] } }] =
        JSON.parse(await podman('image', 'inspect', imageOf(app)));
      const { version, scripts } = manifestOf(app);
      expect(config).toMatchObject({
        User: '10001:10001',
        StopSignal: 'SIGTERM',
        Env: expect.arrayContaining(['NODE_ENV=production', `DEEDWIRE_COMMIT=${commit}`]),
        Labels: {
          'org.opencontainers.image.title': `deedwire-${app}`,
          'org.opencontainers.image.version': version,
          'org.opencontainers.image.revision': commit,
        },
      });
      expect(contractsIn(join(roots[app] ?? missing(), 'app'))).toEqual({
        ...contractsIn(join(workspaceRoot, 'apps', app)),
        commit,
      });
      const command = config.Entrypoint.join(' ').replaceAll('/usr/bin/node', 'node').replace('/app/', '');
      expect(command).toBe(scripts['start'] ?? 'node dist/main.js');
    },
  );

  test.each(apps)('%s contains no shell, no program but Node, and nothing that no app reads', (app) => {
    const root = roots[app] ?? missing();
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
      lstatSync(join(root, path)).isFile(),
    );
    const programs = files.filter(
      (path) => (lstatSync(join(root, path)).mode & 0o111) !== 0 && !/\.so(?:\.|$)/.test(path),
    );
    expect(programs.filter((path) => path.startsWith('app/'))).toEqual([]);
    expect(programs).toEqual(['usr/bin/node']);
    expect(files.filter((path) => /\.(?:map|[cm]?ts|test\.js)$/.test(path))).toEqual([]);
    expect(files.filter((path) => /^app\/.*\/(?:test|tests|__tests__)\//.test(path))).toEqual([]);
    const hasPages = files.includes('app/node_modules/@deedwire/portal/dist/index.html');
    expect(hasPages).toBe(apis.some((api) => api === app));
    expect(files.filter((path) => /^app\/node_modules\/(?:preact|vite)\//.test(path))).toEqual([]);
    const bytes = files.filter((path) => path.startsWith('app/')).map((path) => lstatSync(join(root, path)).size);
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(20_000_000);
    const writable = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
      (path) => !lstatSync(join(root, path)).isSymbolicLink() && (lstatSync(join(root, path)).mode & 0o022) !== 0,
    );
    expect(writable).toEqual(['tmp']);
  });

  test('have a bill of materials with Node and the packages of Debian', () => {
    for (const app of apps) {
      const file = join(containers.folder, 'sbom', `${app}-${manifestOf(app).version}.cdx.json`);
      const bill: { bomFormat: string; components: { name: string; purl?: string }[] } = JSON.parse(
        readFileSync(file, 'utf8'),
      );
      const urls = bill.components.map(({ purl = '' }) => purl);
      expect(bill.bomFormat).toBe('CycloneDX');
      expect(urls).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^pkg:npm\/pg@8\./),
          'pkg:generic/node@26.10.0',
          expect.stringMatching(/^pkg:deb\/debian\/libc6@2\.36-/),
          expect.stringMatching(/^pkg:deb\/debian\/ca-certificates@/),
        ]),
      );
      expect(new Set(urls).size).toBe(urls.length);
    }
  });

  test('cannot be written to, neither by their user nor with a read-only root by root', async () => {
    const write = ['--entrypoint=/usr/bin/node', imageOf('lender-api'), '-e'];
    const script = 'try { fs.writeFileSync("/app/x", ""); } catch ({ code }) { console.log(code); }';
    expect(await podman('run', '--rm', '--network=none', ...write, script)).toBe('EACCES');
    expect(await podman('run', '--rm', '--network=none', '--read-only', '--user=0', ...write, script)).toBe('EROFS');
    const shell = await tryRun(containers, 'podman', [
      'run',
      '--rm',
      '--network=none',
      '--entrypoint=/bin/sh',
      imageOf('lender-api'),
    ]);
    expect(shell.exitCode).toBe(127);
  });

  test('the operator migrates an empty database', async () => {
    const database = await createTestDatabase({ template: 'empty', prepare: async () => {} });
    const environment = [
      '--network=host',
      '--read-only',
      '--cap-drop=all',
      `--env=DATABASE_URL=${database.databaseUrl}`,
    ];
    const migrated = await podman(
      'run',
      '--rm',
      ...environment,
      imageOf('operator-cli'),
      'database',
      'migrate',
      '--json',
    );
    expect(JSON.parse(migrated).applied).not.toEqual([]);
    await database.drop();
  });

  describe('running read-only and without capabilities', () => {
    let harness: Harness;
    const started: string[] = [];

    beforeAll(async () => {
      harness = await createHarness();
    });
    afterAll(async () => {
      for (const id of started) await tryRun(containers, 'podman', ['rm', '--force', '--time=0', id]);
      await harness.close();
    });

    async function start(app: AppName, secretKeys: string) {
      const env = {
        DATABASE_URL: await harness.database.urlFor(groupRole(app)),
        WEBHOOK_SECRET_KEYS: secretKeys,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        // The receiver is on this machine, without TLS.
        NODE_ENV: 'test',
        WEBHOOK_CALLBACK_POLICY: 'development',
        DATABASE_TIMEOUT_MS: '20000',
        PORTAL_ORIGIN: 'https://portal.example',
        // As in production: a stop has to fit into the grace period with it.
        SHUTDOWN_DELAY_MS: '5000',
      };
      const options = [
        '--detach',
        '--network=host',
        '--read-only',
        '--cap-drop=all',
        '--security-opt=no-new-privileges',
      ];
      const variables = Object.entries(env).map(([name, value]) => `--env=${name}=${value}`);
      const id = await podman('run', ...options, ...variables, imageOf(app));
      started.push(id);
      for (;;) {
        const { stdout } = await tryRun(containers, 'podman', ['logs', id]);
        const [, line] = /^(\{.*"msg":"listening"\})$/m.exec(stdout) ?? [];
        if (line !== undefined) {
          const { url, adminUrl }: { url?: string; adminUrl: string } = JSON.parse(line);
          return { id, url: url ?? '', adminUrl };
        }
        const status = await podman('inspect', '--format={{.State.Status}}', id);
        if (status !== 'running') throw new Error(`The container of ${app} is ${status}: ${stdout}`);
        await sleep(100);
      }
    }

    test('they serve a lender, deliver an event, name their commit, and stop with 0 within the grace period', async () => {
      const secretKeys = `k1:${randomBytes(32).toString('base64')}`;
      const [lender, partner, worker] = await Promise.all([
        start('lender-api', secretKeys),
        start('partner-api', secretKeys),
        start('webhook-worker', secretKeys),
      ]);
      for (const { adminUrl } of [lender, partner, worker])
        await expect.poll(async () => (await fetch(`${adminUrl}/ready`)).status).toBe(200);
      await expectDelivery(
        { lender: `${lender.url}/lenders/graphql`, partner: `${partner.url}/partners/graphql` },
        harness.accounts,
      );
      for (const page of [`${lender.url}/lenders/portal/1/`, `${partner.url}/partners/portal/1/`]) {
        const [, script = ''] = /<script [^>]*src="([^"]+)"/.exec(await (await fetch(page)).text()) ?? [];
        const { status, headers } = await fetch(new URL(script, page));
        expect([status, headers.get('Content-Type')]).toEqual([200, 'text/javascript; charset=utf-8']);
      }
      for (const { adminUrl, id } of [lender, partner, worker]) {
        const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
        expect(metrics).toContain(`,commit="${commit}",cell="0"} 1\n`);
        const pid = await podman('inspect', '--format={{.State.Pid}}', id);
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
        expect(status).toMatch(/^CapEff:\t0000000000000000$/m);
      }
      await podman('stop', '--time=30', ...started);
      for (const id of started) {
        expect(await podman('logs', id)).toContain('"msg":"stopped"');
        expect(await podman('inspect', '--format={{.State.ExitCode}}', id)).toBe('0');
      }
    });
  });
});
