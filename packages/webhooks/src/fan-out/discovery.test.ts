import { expect, test, vi } from 'vitest';
import { Discovery } from './discovery.ts';
import { KnownEntries } from './known-entries.ts';
import { defaultFanOutLimits } from './limits.ts';

/** A discovery of shard 0, whose queue is empty. Each read ends when the test calls the next function of `reads`. */
function createDiscovery() {
  const reads: (() => void)[] = [];
  const discovery = new Discovery({
    database: {
      query<Row>() {
        const { promise, resolve } = Promise.withResolvers<Row[]>();
        reads.push(() => resolve([{ xmin: '10', xmax: '10', found: [] } as Row]));
        return promise;
      },
    },
    clock: { setTimer: () => () => {} },
    known: new KnownEntries(100),
    limits: defaultFanOutLimits,
    onEvent: () => {},
    onDiscovered: () => {},
    onChange: () => {},
    onReadAgain: () => {},
  });
  discovery.add(0, false);
  return { discovery, reads };
}

const countOf = (reads: readonly unknown[], count: number): Promise<void> =>
  vi.waitFor(() => expect(reads).toHaveLength(count));

test('a shard is read as a whole again if that was requested during such a read', async () => {
  const { discovery, reads } = createDiscovery();
  discovery.readWhole(0);
  reads[0]?.();
  await countOf(reads, 2);
  discovery.readWhole(0);
  reads[1]?.();
  await countOf(reads, 3);
  reads[2]?.();
  await new Promise(setImmediate);
  expect(reads).toHaveLength(3);
});
