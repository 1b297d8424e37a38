import { testService } from '@deedwire/core/test-service';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogger } from './logger.ts';
import { stopOnSignal } from './stop-on-signal.ts';

const logger = createLogger({ name: 'test', level: 'silent', service: testService }, { write() {} });
const handlers = (): number => process.listenerCount('SIGTERM');

let before: Record<'SIGTERM' | 'SIGINT', ReturnType<typeof process.listeners>>;

beforeEach(() => {
  // A signal starts a timer that ends the process.
  vi.useFakeTimers();
  before = { SIGTERM: process.listeners('SIGTERM'), SIGINT: process.listeners('SIGINT') };
});

afterEach(() => {
  vi.useRealTimers();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    for (const handler of process.listeners(signal))
      if (!before[signal].includes(handler)) process.off(signal, handler);
  }
});

test('keeps its handlers after a signal, so that the same signal does not end the process before its exit', () => {
  const stop = vi.fn<() => Promise<void>>(() => new Promise(() => {}));
  stopOnSignal(stop, logger);
  process.emit('SIGTERM', 'SIGTERM');
  process.emit('SIGTERM', 'SIGTERM');
  expect(handlers()).toBe(before.SIGTERM.length + 1);
  expect(stop).toHaveBeenCalledOnce();
});
