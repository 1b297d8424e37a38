import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type ClientSlotsOptions, createClientSlots } from './client-slots.ts';

const refusal = (): Error => new Error('Occupied.');

/** Asks for slots, and tells which operations run. */
function operations(options: ClientSlotsOptions) {
  const slots = createClientSlots(options);
  const running: string[] = [];
  const leave = new Map<string, () => void>();
  const start = async (clientId: string, name: string): Promise<void> => {
    leave.set(name, await slots(clientId));
    running.push(name);
  };
  const end = async (name: string): Promise<void> => {
    running.splice(running.indexOf(name), 1);
    leave.get(name)?.();
    await setImmediate();
  };
  return { running, start, end };
}

test('a client runs so many operations at a time, the others in the order in which they came, and others have theirs', async () => {
  const { start, end, running } = operations({ perClient: 2 });
  const a = ['a1', 'a2', 'a3', 'a4'].map((name) => start('a', name));
  await start('b', 'b1');
  expect(running).toEqual(['a1', 'a2', 'b1']);
  await end('a2');
  expect(running).toEqual(['a1', 'b1', 'a3']);
  await end('a1');
  expect(running).toEqual(['b1', 'a3', 'a4']);
  await Promise.all(a);
  await end('a3');
  await end('a4');
  await Promise.all([start('a', 'a5'), start('a', 'a6')]);
  const last = start('a', 'a7');
  expect(running).toEqual(['b1', 'a5', 'a6']);
  await end('a5');
  await last;
  expect(running).toEqual(['b1', 'a6', 'a7']);
});

test('an operation that waits too long is refused, and takes no slot', async () => {
  const { start, end, running } = operations({ perClient: 1, wait: { maxMs: 20, refusal } });
  await start('a', 'a1');
  await expect(start('a', 'a2')).rejects.toThrow('Occupied.');
  await end('a1');
  await start('a', 'a3');
  expect(running).toEqual(['a3']);
});
