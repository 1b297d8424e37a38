import type { CellSession } from '@deedwire/store';
import { closeToOthers, type DeliveryKey, expireCopiedDeliveries, type OpenToOthers } from '@deedwire/store/copies';
import { appendAuditEntry, nameOperator } from '../kernel/audit.ts';
import type { OperatorContext } from '../kernel/context.ts';
import type { OnProgress } from '../kernel/unhurried.ts';
import { requireNoSplit } from './split-cell.ts';

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
  await requireNoSplit(session);
  const found = await session.transaction(async (transaction) => {
    onProgress(isDryRun ? 'Counting what is open' : 'Pausing subscriptions and revoking keys');
    await nameOperator(transaction, operator, 'database.copied');
    const open = await closeToOthers(transaction, { isDryRun });
    if (isDryRun || Object.values(open).every((count) => count === 0)) return open;
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
  for (let after: DeliveryKey | null = ['0', '0']; after !== null;) {
    const from: DeliveryKey = after;
    const batch = await session.transaction((transaction) =>
      expireCopiedDeliveries(transaction, from, deliveriesPerStatement),
    );
    expired += batch?.expired ?? 0;
    onProgress(`Expired ${expired.toLocaleString('en')} of ${found.pendingDeliveries.toLocaleString('en')} deliveries`);
    after = batch?.last ?? null;
  }
  return found;
}
