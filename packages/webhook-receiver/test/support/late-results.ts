import { expect } from 'vitest';
import type { WebhookStore } from '../../src/store.ts';

/** What a handler that has returned, and one that has thrown, get for a statement. */
export async function lateResults<Transaction>(
  store: WebhookStore<Transaction>,
  id: string,
  use: (transaction: Transaction) => () => Promise<unknown>,
): Promise<unknown[]> {
  const uses: (() => Promise<unknown>)[] = [];
  for (const end of [async () => {}, () => Promise.reject(new Error('The other branch failed.'))]) {
    const ended = store.once(`${id}_${uses.length}`, async (transaction) => {
      uses.push(use(transaction));
      await end();
    });
    await ended.catch(() => {});
  }
  return Promise.all(uses.map((late) => late().catch((error: unknown) => error)));
}

/** Both are errors that name the reason. */
export const bothRefused: unknown = [1, 2].map(() =>
  expect.objectContaining({ message: expect.stringContaining('The transaction of this handler has ended') }),
);
