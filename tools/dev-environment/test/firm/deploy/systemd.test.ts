import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { appOf } from '@deedwire/core';
import { interfaceNames } from '@deedwire/firm';
import { commandsOf, missing } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { groupRole } from '../../../src/start-system.ts';
import { workspaceRoot } from '../../../src/workspace.ts';
import { isWithout } from '../../deploy/support/containers.ts';
import { createMigratedDatabase } from '../harness/index.ts';

const apps = [...interfaceNames.map(appOf).toSorted(), 'webhook-worker'] as const;
const units = globSync('deploy/systemd/*.service', { cwd: workspaceRoot }).toSorted();

const page = readFileSync(join(workspaceRoot, 'docs/operations/install-systemd.md'), 'utf8');
const [install = ''] = commandsOf(page, 'Install the release', 1);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'systemd-'));
  await promisify(execFile)('sh', ['-c', install.replace('/opt/deedwire', folder)], { cwd: workspaceRoot });
});
afterAll(() => rm(folder, { recursive: true }));

test('there is a unit for each server, with the command of its package and time to stop', () => {
  expect(units.map((path) => basename(path))).toEqual(apps.map((app) => `deedwire-${app}.service`));
  for (const [index, app] of apps.entries()) {
    const unit = readFileSync(join(workspaceRoot, units[index] ?? missing()), 'utf8');
    const manifest: { scripts: { start: string } } = JSON.parse(
      readFileSync(join(workspaceRoot, 'apps', app, 'package.json'), 'utf8'),
    );
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    expect(command.replaceAll('/opt/deedwire/current/', '').replace('bin/', '').replace(`${app}/`, '')).toBe(
      manifest.scripts.start,
    );
    expect(unit).toMatch(/^TimeoutStopSec=30$/m);
  }
});

describe.skipIf(isWithout('systemd-analyze'))('systemd', () => {
  test.each(units)('accepts %s, and finds it well protected', async (path) => {
    // `verify` looks for the programs and folders.
    const copy = join(folder, basename(path));
    await writeFile(copy, readFileSync(join(workspaceRoot, path), 'utf8').replaceAll('/opt/deedwire', folder));
    const analyze = (...analyzeArguments: string[]) =>
      promisify(execFile)('systemd-analyze', [...analyzeArguments, copy]);
    expect(await analyze('verify', '--man=no')).toEqual({ stdout: '', stderr: '' });
    // The exposure in tenths. systemd calls up to 4 OK.
    await analyze('security', '--offline=true', '--threshold=20');
  });
});

test('the commands of the units run their folders, which name the commit, and end with 0 after SIGTERM', async () => {
  const database = await createMigratedDatabase();
  const secretKeys = `k1:${randomBytes(32).toString('base64')}`;
  for (const [index, app] of apps.entries()) {
    const unit = readFileSync(join(workspaceRoot, units[index] ?? missing()), 'utf8').replaceAll(
      '/opt/deedwire',
      folder,
    );
    const [program = '', ...words] = (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '').split(' ');
    const [, environmentFile = ''] = /^EnvironmentFile=(\/.*)$/m.exec(unit) ?? [];
    const [, workingDirectory = ''] = /^WorkingDirectory=(.*)$/m.exec(unit) ?? [];
    const [name = '', commit = ''] = readFileSync(environmentFile, 'utf8').trim().split('=');
    expect(commit).toMatch(/^[0-9a-f]{40}/);
    // The units read these two with LoadCredential.
    await writeFile(join(folder, 'database-url'), await database.urlFor(groupRole(app)));
    await writeFile(join(folder, 'webhook-secret-keys'), secretKeys);
    const child = spawn(program, words, {
      cwd: workingDirectory,
      env: {
        [name]: commit,
        DATABASE_URL_FILE: join(folder, 'database-url'),
        WEBHOOK_SECRET_KEYS_FILE: join(folder, 'webhook-secret-keys'),
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        SHUTDOWN_DELAY_MS: '0',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const lines = createInterface({ input: child.stdout });
    for await (const line of lines) {
      const { msg, adminUrl }: { msg: string; adminUrl?: string } = JSON.parse(line);
      if (msg !== 'listening') continue;
      await expect.poll(async () => (await fetch(`${adminUrl}/ready`)).status).toBe(200);
      expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain(`,commit="${commit}",cell="0"} 1\n`);
      child.kill('SIGTERM');
    }
    expect(await exited).toEqual([0, null]);
  }
  await database.drop();
});
