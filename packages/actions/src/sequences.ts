import { advanceSequences, type AdvancedSequence, drawMatterNumbers, selectSequences } from '@deedwire/store';
import { appendAuditEntry } from './audit.ts';
import type { OperatorContext } from './context.ts';

export interface AdvanceSequencesOptions {
  /**
   * The highest number of a matter reference that clients may have got and that the database has lost, in decimal digits. The next
   * matter gets a higher one.
   */
  matterNumber?: string | undefined;
}

/** How many matter numbers can be left out at once. A number with a digit too many would make all later references longer. */
export const leftOutMatterNumbersMax = 1_000_000;

/**
 * Advances the sequences that are behind the rows of the database, and that of matter numbers to `matterNumber`. Idempotent.
 *
 * @throws {Error} if a worker is running while the queue is behind, or if `matterNumber` is too far from the last number
 */
export async function advanceAllSequences(
  { store, operator }: OperatorContext,
  { matterNumber }: AdvanceSequencesOptions = {},
): Promise<AdvancedSequence[]> {
  return store.transaction(async (transaction) => {
    const advanced = await advanceSequences(transaction);
    if (matterNumber !== undefined) {
      const last = (await selectSequences(transaction)).find(({ name }) => name === 'matter_number')?.lastNumber ?? '0';
      if (BigInt(matterNumber) - BigInt(last) > leftOutMatterNumbersMax)
        throw new Error(
          `The last matter number is ${last}, and ${matterNumber} is more than ${leftOutMatterNumbersMax.toLocaleString('en')} beyond it. Check the number.`,
        );
      const drawn = await drawMatterNumbers(transaction, matterNumber);
      if (drawn !== null) advanced.push(drawn);
    }
    for (const { name, ...details } of advanced) {
      const action = 'database.advance-sequences';
      await appendAuditEntry(transaction, operator, { action, subject: name, account: null, details });
    }
    return advanced;
  });
}
