import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDevHome, type DevHome } from '../dev-process.ts';

// The processes are found by their inherited environment, which only Linux reports.
describe.skipIf(process.platform !== 'linux')('every process ends', () => {
  let home: DevHome;

  // The tests share the data: creating it takes more than half of a first start.
  beforeAll(async () => {
    home = await createDevHome();
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
  });
});
