import type { CellSession } from '@deedwire/store';
import { selectSplit } from '@deedwire/store/cell-splits';
import { callCopying, type OpenToOthers, selectOpenToOthers } from '@deedwire/store/copies';
import { appendAuditEntry, nameOperator } from './audit.ts';
import type { OperatorContext } from './context.ts';
import { isOpen } from './split-cell.ts';
import type { OnProgress } from './unhurried.ts';

export interface CloseCopy {
  context: Pick<OperatorContext, 'operator'>;
  /** The only one that works on the copy. */
  session: CellSession;
  isDryRun: boolean;
  onProgress: OnProgress;
}

const deliveriesPerStatement = 10_000;

/**
 * Closes a copy of a database to clients and receivers: they belong to the original. Returns what was open. Idempotent: after an
 * interruption, run it again.
 *
 * @throws {Error} while an app uses the database or a split is open
 */
export async function closeCopy({ context, session, isDryRun, onProgress }: CloseCopy): Promise<OpenToOthers> {
  const { operator } = context;
  const split = await selectSplit(session);
  if (split !== null && isOpen(split)) throw new Error('A split is open. Finish it, or run `cell split abort`.');
  const found = await session.transaction(async (transaction) => {
    await callCopying(transaction, 'require_no_app');
    onProgress('Counting what is open');
    const open = await selectOpenToOthers(transaction);
    if (isDryRun || Object.values(open).every((count) => count === 0)) return open;
    onProgress('Pausing subscriptions and revoking keys');
    await nameOperator(transaction, operator, 'database.copied');
    await callCopying(transaction, 'close_copy');
    await appendAuditEntry(transaction, operator, {
      action: 'database.copied',
      subject: 'database',
      account: null,
      details: open,
    });
    return open;
  });
  if (isDryRun) return found;
  let expired = 0;
  for (let after: readonly [string, string] | null = ['0', '0']; after !== null;) {
    const from: readonly [string, string] = after;
    const [last] = await session.transaction((transaction) =>
      callCopying(transaction, 'expire_copied_deliveries', ...from, deliveriesPerStatement),
    );
    expired += last?.expired ?? 0;
    onProgress(`Expired ${expired.toLocaleString('en')} of ${found.pendingDeliveries.toLocaleString('en')} deliveries`);
    after = last === undefined ? null : [last.subscription_id, last.delivery_id];
  }
  return found;
}
