import { describe, expect, test, vi } from 'vitest';
import { newDevHome } from './dev-process.ts';

// The processes are found by their inherited environment, which only Linux reports.
describe.skipIf(process.platform !== 'linux')('every process ends within 10 s', () => {
  const within = { timeout: 60_000, interval: 100 };

  test.each(['SIGTERM', 'SIGKILL'] as const)('after %s to the process group', async (signal) => {
    const home = await newDevHome();
    const dev = home.start();
    await home.whenReady(dev);
    expect(home.processes().length).toBeGreaterThan(5);
    dev.signalGroup(signal);
    await vi.waitFor(() => expect(home.processes()).toEqual([]), within);
  });

  test('after SIGKILL to its own process only', async () => {
    const home = await newDevHome();
    const dev = home.start();
    await home.whenReady(dev);
    dev.child.kill('SIGKILL');
    await vi.waitFor(() => expect(home.processes()).toEqual([]), within);
  });

  test('after SIGKILL to its parent process only', async () => {
    const home = await newDevHome();
    const dev = home.start({}, { launcher: ['sh', '-c', '"$@"; exit', 'sh'] });
    await home.whenReady(dev);
    dev.child.kill('SIGKILL');
    await vi.waitFor(() => expect(home.processes()).toEqual([]), within);
  });

  test('after a signal during its start', async () => {
    const home = await newDevHome();
    const dev = home.start();
    await vi.waitFor(() => expect(dev.output()).toContain('Starting the apps'), { timeout: 60_000, interval: 10 });
    dev.signalGroup('SIGTERM');
    await vi.waitFor(() => expect(home.processes()).toEqual([]), within);
  });
});
