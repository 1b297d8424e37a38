import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Fifo } from './fifo.ts';

test('returns the items in the order of an array', () => {
  const step = fc.constantFrom<'add' | 'addFirst' | 'removeFirst'>('add', 'addFirst', 'removeFirst');
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const fifo = new Fifo<number>();
      const expected: number[] = [];
      const run = {
        add: (item: number) => void expected.push(item),
        addFirst: (item: number) => void expected.unshift(item),
        removeFirst: () => expected.shift(),
      };
      for (const [item, name] of steps.entries()) {
        expect(fifo[name](item)).toBe(run[name](item));
        expect(fifo.first).toBe(expected[0]);
      }
    }),
  );
});
