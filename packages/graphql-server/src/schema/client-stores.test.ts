import type { Statement, Store, Transaction } from '@deedwire/store';
import { StoreUnavailableError } from '@deedwire/store';
import { beforeEach, expect, test, vi } from 'vitest';
import { createClientStores } from './client-stores.ts';

const statement: Statement = { name: 'sample', text: 'select' };

/** The work that occupies a connection, in the order in which it started. */
let running: PromiseWithResolvers<unknown>[];

function occupy(): Promise<never> {
  const work = Promise.withResolvers<unknown>();
  running.push(work);
  return work.promise as Promise<never>;
}

const store: Store = {
  query: occupy,
  transaction: (work: (transaction: Transaction) => Promise<never>) =>
    work({ query: occupy, notifyAfterCommit: () => {} }),
  write: occupy,
  close: async () => {},
};

beforeEach(() => {
  running = [];
});

test('the statements and transactions of a client occupy so many connections, and others have theirs', async () => {
  const storeOf = createClientStores({ store, perClient: 3, maxWaitMs: 60_000 });
  // One operation each.
  const [first, second, other] = [storeOf('a'), storeOf('a'), storeOf('b')];
  const results = [
    first.query(statement, []),
    first.transaction((transaction) => transaction.query(statement, [])),
    ...Array.from({ length: 4 }, () => second.query(statement, [])),
  ];
  await vi.waitFor(() => expect(running).toHaveLength(3));
  const ofOther = other.query(statement, []);
  await vi.waitFor(() => expect(running).toHaveLength(4));
  running[3]?.resolve('other');
  expect(await ofOther).toBe('other');
  running[1]?.reject(new Error('The transaction failed.'));
  await expect(results[1]).rejects.toThrow('The transaction failed.');
  await vi.waitFor(() => expect(running).toHaveLength(5));
  for (let next = 0; next < 7; next += 1) {
    await vi.waitFor(() => expect(running.length).toBeGreaterThan(next));
    running[next]?.resolve([]);
  }
  expect(await Promise.allSettled(results)).toHaveLength(6);
});

test('a statement that waits too long fails as without a free connection', async () => {
  const client = createClientStores({ store, perClient: 1, maxWaitMs: 10 })('a');
  const first = client.query(statement, []);
  await expect(client.query(statement, [])).rejects.toThrow(StoreUnavailableError);
  running[0]?.resolve(['row']);
  expect(await first).toEqual(['row']);
});
