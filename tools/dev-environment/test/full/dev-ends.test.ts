import { describe, expect, test } from 'vitest';
import { newDevHome } from '../dev-process.ts';

// The processes are found by their inherited environment, which only Linux reports.
describe.skipIf(process.platform !== 'linux')('every process ends', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('after %s to the process group', async (signal) => {
    const home = await newDevHome();
    const dev = home.start();
    await home.whenReady(dev);
    expect(home.processes().length).toBeGreaterThan(5);
    dev.signalGroup(signal);
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('after SIGKILL to its own process only', async () => {
    const home = await newDevHome();
    const dev = home.start();
    await home.whenReady(dev);
    dev.child.kill('SIGKILL');
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('after SIGKILL to its parent process only', async () => {
    const home = await newDevHome();
    const dev = home.start({}, { launcher: ['sh', '-c', '"$@"; exit', 'sh'] });
    await home.whenReady(dev);
    dev.child.kill('SIGKILL');
    await expect.poll(() => home.processes()).toEqual([]);
  });

  test('after a signal during its start', async () => {
    const home = await newDevHome();
    const dev = home.start();
    await expect.poll(dev.output, { interval: 10 }).toContain('Starting the apps');
    dev.signalGroup('SIGTERM');
    await expect.poll(() => home.processes()).toEqual([]);
  });
});
