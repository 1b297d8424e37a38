import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Heap, type HeapNode } from './heap.ts';

const node = (): HeapNode => ({ heapKey: 0, heapOrder: 0, heapIndex: -1 });

test('yields the smallest key first, and of equal keys the oldest, after any additions and removals', () => {
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
      const yielded: HeapNode[] = [];
      for (let { first } = heap; first !== undefined; { first } = heap) {
        yielded.push(first);
        heap.remove(first);
      }
      // Sorting is stable, so equal keys stay in the order in which they were added.
      const sorted = expected.toSorted((a, b) => a.heapKey - b.heapKey);
      expect(yielded.map((each) => sorted.indexOf(each))).toEqual([...sorted.keys()]);
    }),
  );
});
