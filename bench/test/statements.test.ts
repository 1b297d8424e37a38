import { expect, it } from 'vitest';
import { countPerDelivery } from '../src/delivery/parts/statements.ts';
import type { LoggedStatement } from '../src/delivery/statement-log.ts';

function logged(name: string, phase: LoggedStatement['phase'] = 'execute'): LoggedStatement {
  return { database: 'ours', name, phase, durationMs: 1 };
}

it('subtracts the statements that also run when idle', () => {
  const idle = [logged('poll'), logged('poll')];
  const busy = [...idle, logged('take'), logged('take'), logged('settle')];
  expect(countPerDelivery(idle, busy, 2)).toEqual({
    perDelivery: 1.5,
    idlePerSecond: 1,
    byName: { poll: 0, settle: 0.5, take: 1 },
  });
});

it('counts a named statement once, although the server logs its parse, bind and execute', () => {
  const busy = [logged('take', 'parse'), logged('take', 'bind'), logged('take')];
  expect(countPerDelivery([], busy, 1).perDelivery).toBe(1);
});
