import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDefaultLayout } from '@deedwire/layout';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { homeOf, openHome } from '../src/home.ts';
import { workspaceRoot } from '../src/workspace.ts';

const names = ['customer', 'supplier'];

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('one process at a time can open a home, and a killed process releases it', async () => {
  const holder = fork(join(import.meta.dirname, 'home-holder.ts'), [directory], {
    execArgv: ['--conditions=deedwire-source'],
  });
  await once(holder, 'message');
  await expect(openHome(directory, names)).rejects.toThrow(`Another \`pnpm dev\` is running in ${directory}.`);
  holder.kill('SIGKILL');
  await vi.waitFor(() => openHome(directory, names), { timeout: 240_000 });
});

test.each(['a file', 'a folder whose lock cannot be written'])(
  'names DEEDWIRE_HOME if the home is %s',
  async (kind) => {
    const home = join(directory, 'home');
    if (kind === 'a file') await writeFile(home, '');
    else await mkdir(join(home, 'lock'), { recursive: true });
    await expect(openHome(home, names)).rejects.toThrow(
      new RegExp(`^Cannot write to ${home} \\(.+\\)\\. Set DEEDWIRE_HOME to a folder that you can write to\\.$`),
    );
  },
);

test('removes the files of a killed process, and writes files that only the owner can read', async () => {
  const devFile = join(directory, 'dev.json');
  const variablesFiles = [join(directory, 'dev.env'), join(directory, 'supplier.env')];
  for (const path of [devFile, ...variablesFiles]) await writeFile(path, '');
  const home = await openHome(directory, names);
  for (const path of [devFile, ...variablesFiles]) await expect(access(path)).rejects.toThrow('ENOENT');
  await home.writeDevFiles(
    { admin: {}, databaseUrl: '', webhookSecretKeys: '' },
    { customer: 'export A=customer\n', supplier: 'export A=supplier\n' },
  );
  expect(await readFile(join(directory, 'dev.env'), 'utf8')).toBe('export A=customer\n');
  await home.saveState();
  const modes = await Promise.all(
    ['dev.json', 'dev.env', 'supplier.env', 'state.json'].map(
      async (name) => (await stat(join(directory, name))).mode & 0o777,
    ),
  );
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o600]);
});

test('reads the state of an older `pnpm dev`', async () => {
  const databases = { mark: { webhookSecretKeys: 'dev:key', seed: null } };
  await writeFile(join(directory, 'state.json'), JSON.stringify({ postgresPassword: 'p', databases }));
  const { state } = await openHome(directory, names);
  expect(state.databases['mark']).toEqual({
    webhookSecretKeys: 'dev:key',
    seed: null,
    webhookSecret: expect.stringMatching(/^whsec_/),
    receiverSubscriptionIds: {},
  });
});

test('no repository takes the files of a home', async () => {
  await openHome(directory, names);
  expect(await readFile(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
});

test('the data of another service than the deployed one are in its folder', async () => {
  const layout = await readDefaultLayout();
  expect(homeOf(layout)).toBe(join(workspaceRoot, '.local'));
  expect(homeOf({ ...layout, root: 'services/other' })).toBe(join(workspaceRoot, 'services/other/.local'));
});

test('keeps a state file that it did not write', async () => {
  await writeFile(join(directory, 'state.json'), '{"something":"else"}');
  await expect(openHome(directory, names)).rejects.toThrow('Remove the folder to start with a new database');
});
