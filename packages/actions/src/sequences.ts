import { advanceSequences, type AdvancedSequence, selectSequences, type SequenceState } from '@deedwire/store';
import { appendAuditEntry } from './audit.ts';
import type { ActionContext, OperatorContext } from './context.ts';

/** Lists the sequences whose numbers must not repeat. */
export async function listSequences({ store }: ActionContext): Promise<SequenceState[]> {
  return selectSequences(store);
}

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
