import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openHome } from '../src/home.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'deedwire-test-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

test('a home is one process’ at a time, and free again when that was killed', async () => {
  const holder = fork(join(import.meta.dirname, 'home-holder.ts'), [directory], {
    execArgv: ['--conditions=deedwire-source'],
  });
  await once(holder, 'message');
  await expect(openHome(directory)).rejects.toThrow(`Another \`pnpm dev\` runs in ${directory}.`);
  holder.kill('SIGKILL');
  await vi.waitFor(() => openHome(directory), { timeout: 5_000 });
});

test('what a killed one left is removed, and what is written is for the owner alone', async () => {
  const devFile = join(directory, 'dev.json');
  await writeFile(devFile, '{}');
  const home = await openHome(directory);
  await expect(access(devFile)).rejects.toThrow('ENOENT');
  const caller = { url: '', clientId: '', apiKey: '', organizationId: '' };
  await home.writeDevFile({
    lender: caller,
    partner: caller,
    otherLender: caller,
    otherPartner: caller,
    worker: { url: '' },
    databaseUrl: '',
    referrals: [],
  });
  await home.saveState();
  const modes = await Promise.all(
    ['dev.json', 'state.json'].map(async (name) => (await stat(join(directory, name))).mode & 0o777),
  );
  expect(modes).toEqual([0o600, 0o600]);
});

test('a state that is not ours is not overwritten', async () => {
  await writeFile(join(directory, 'state.json'), '{"something":"else"}');
  await expect(openHome(directory)).rejects.toThrow('Remove the folder to start anew');
});
