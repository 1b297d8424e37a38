import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap, type HeapNode } from './heap.ts';

const node = (): HeapNode => ({ heapKey: 0, heapIndex: -1 });

test('yields the smallest key first after any additions and removals', () => {
  const step = fc.record({ key: fc.integer({ min: 0, max: 50 }), removeNth: fc.option(fc.nat(20)) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const heap = new Heap<HeapNode>();
      const expected: HeapNode[] = [];
      for (const { key, removeNth } of steps) {
        const added = node();
        heap.add(added, key);
        expected.push(added);
        if (removeNth === null || expected.length <= removeNth) continue;
        for (const removed of expected.splice(removeNth, 1)) {
          heap.remove(removed);
          expect(removed.heapIndex).toBe(-1);
        }
      }
      const keys: number[] = [];
      for (let { first } = heap; first !== undefined; { first } = heap) {
        keys.push(first.heapKey);
        heap.remove(first);
      }
      expect(keys).toEqual(expected.map(({ heapKey }) => heapKey).toSorted((a, b) => a - b));
    }),
  );
});
