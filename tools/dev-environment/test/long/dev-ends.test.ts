import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readDefaultLayout } from '@deedwire/layout';
import { commandsOf } from '@deedwire/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workspaceRoot } from '../../src/workspace.ts';
import { createDevHome, type DevHome, freePorts } from '../dev-process.ts';

const { interfaceNames } = await readDefaultLayout();

// The processes are found by their inherited environment, which only Linux reports.
describe.skipIf(process.platform !== 'linux')('every process ends', () => {
  let home: DevHome;

  // The tests share the data: creating it takes more than half of a first start.
  beforeAll(async () => {
    home = await createDevHome({ interfaceNames });
  });
  afterAll(() => home.remove());

  async function startCompletely(options: Parameters<DevHome['start']>[1] = {}) {
    const dev = home.start({}, options);
    await expect.poll(dev.output).toContain('Deedwire is running.');
    expect(home.processes().length).toBeGreaterThan(5);
    return dev;
  }

  test('after SIGKILL to its own process only', async () => {
    const dev = await startCompletely();
    dev.child.kill('SIGKILL');
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('after SIGKILL to its parent process only', async () => {
    const dev = await startCompletely({ launcher: ['sh', '-c', '"$@"; exit', 'sh'] });
    dev.child.kill('SIGKILL');
    await expect.poll(() => home.processes()).toEqual([]);
    expect(dev.output()).toContain(`\nStopping: sh (${dev.child.pid}) has ended, which ran this.`);
  });

  test('after the process that the commands "In a script" started, and not after these', async () => {
    const page = readFileSync(join(workspaceRoot, 'docs/quickstart.md'), 'utf8');
    const [commands = ''] = commandsOf(page, 'In a script', 1);
    const logFile = join(home.path, 'dev.log');
    const script = commands.replace('> dev.log', `> ${logFile}`).replaceAll('.local/', `${home.path}/`);
    const env = { ...process.env, ...freePorts(interfaceNames), DEEDWIRE_HOME: home.path };
    const started = await promisify(execFile)('sh', ['-ec', `${script}\necho $!`], { cwd: workspaceRoot, env });
    // Longer than it takes to notice that a process has ended.
    await sleep(6_000);
    expect(readFileSync(logFile, 'utf8')).not.toContain('Stopping');
    expect(home.processes().length).toBeGreaterThan(5);
    process.kill(Number(started.stdout.trim().split('\n').at(-1)));
    await expect.poll(() => home.processes()).toEqual([]);
    expect(readFileSync(logFile, 'utf8')).toMatch(/\nStopping: sh \(\d+\) has ended, which ran this\..*\nStopped\.\n$/);
  });

  test('after the reader of its output', async () => {
    const dev = home.start({}, { launcher: ['sh', '-c', '"$@" | head -n 1', 'sh'] });
    expect(await dev.ended).toBe(0);
    expect(dev.output()).toBe('Preparing the database …\n');
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('after a signal during its start', async () => {
    const dev = home.start();
    await expect.poll(dev.output, { interval: 10 }).toContain('Starting the apps');
    dev.signalGroup('SIGTERM');
    await expect.poll(() => home.processes()).toEqual([]);
    expect(dev.output()).toContain('\nStopping: received SIGTERM …\n');
  });
});
