import { advanceSequences, type AdvancedSequence } from '@deedwire/store';
import { appendAuditEntry } from './audit.ts';
import type { OperatorContext } from './context.ts';

/**
 * Advances the sequences that are behind the rows of the database. Idempotent.
 *
 * @throws {Error} if a worker is running while the queue is behind
 */
export async function advanceAllSequences({ store, operator }: OperatorContext): Promise<AdvancedSequence[]> {
  return store.transaction(async (transaction) => {
    const advanced = await advanceSequences(transaction);
    for (const { name, ...details } of advanced) {
      const action = 'database.advance-sequences';
      await appendAuditEntry(transaction, operator, { action, subject: name, account: null, details });
    }
    return advanced;
  });
}
