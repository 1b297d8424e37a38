import { setTimeout as sleep } from 'node:timers/promises';
import type { CellSession } from '@deedwire/store';
import { hasAccountsElsewhere, selectCell } from '@deedwire/store/cell-splits';
import { callPruning, type ForeignTable } from '@deedwire/store/foreign-rows';
import { appendAuditEntry, nameOperator } from '../kernel/audit.ts';
import type { OperatorContext } from '../kernel/context.ts';
import { type OnProgress, unhurried } from '../kernel/unhurried.ts';
import { requireNoSplit } from './split-cell.ts';

/** What was deleted of a table. In a dry run, `bytes` would be. */
export interface PrunedTable {
  table: string;
  /** Estimated before. */
  bytes: number;
  rows: number;
  /** Partitions that were dropped, with all of their rows. */
  partitions: number;
}

export interface PruneReport {
  isDryRun: boolean;
  tables: PrunedTable[];
  /** The first rows that stay because others refer to them, for example `api_key k1, because of portal_session`. */
  kept: string[];
  keptRows: number;
}

export interface Prune {
  context: Pick<OperatorContext, 'operator'>;
  /** The only one that works on the cell. */
  session: CellSession;
  isDryRun: boolean;
  onProgress: OnProgress;
}

// Of 8 kB.
const pagesPerDelete = 16;
const pagesPerCheck = 128;
const keptMax = 100;
/** Every session plans its statements anew once a partition is dropped. */
const dropPauseMs = 1_000;
const locksMaxMs = 60_000;
const lockPauseMs = 500;

/**
 * Deletes the rows of the accounts that are at home in other cells, beside traffic. What was deleted before an interruption stays
 * deleted, so it is run again.
 *
 * @throws {Error} while a split is open, or if a table stays locked
 */
export async function pruneCell({ context, session, isDryRun, onProgress }: Prune): Promise<PruneReport> {
  await requireNoSplit(session);
  const report: PruneReport = { isDryRun, tables: [], kept: [], keptRows: 0 };
  if (!(await hasAccountsElsewhere(session))) return report;
  const tables = new Map<string, PrunedTable>();
  const tableOf = (table: string): PrunedTable => {
    const entry = tables.get(table) ?? { table, bytes: 0, rows: 0, partitions: 0 };
    tables.set(table, entry);
    return entry;
  };
  const finish = (): PruneReport => ({ ...report, tables: [...tables.values()] });
  for (const { cell, root, bytes } of await withLocks(() => callPruning(session, 'foreign_bytes')))
    if (cell !== null) tableOf(root).bytes += bytes;
  if (isDryRun) return finish();

  const cell = await selectCell(session);
  await session.transaction((transaction) =>
    appendAuditEntry(transaction, context.operator, {
      action: 'cell.prune',
      subject: `cell/${cell}`,
      account: null,
    }),
  );
  const checked = new Map<string, boolean>();
  const hasForeignOnly = async (name: string): Promise<boolean> => {
    for (;;) {
      onProgress(`Looking for rows that stay in ${name}`);
      const [isOver] = await withLocks(() =>
        unhurried(() => callPruning(session, 'check_foreign_partition', name, pagesPerCheck)),
      );
      if (isOver !== null && isOver !== undefined) return isOver;
    }
  };
  const drop = async ({ name, needed }: ForeignTable): Promise<boolean> => {
    if (needed === null) return false;
    for (const each of needed) {
      const isForeign = checked.get(each) ?? (await hasForeignOnly(each));
      checked.set(each, isForeign);
      if (!isForeign) return false;
    }
    const [isDropped] = await withLocks(() => callPruning(session, 'drop_foreign_partition', name));
    if (isDropped) await sleep(dropPauseMs);
    return isDropped === true;
  };
  let rows = 0;
  for (const table of await withLocks(() => callPruning(session, 'foreign_tables'))) {
    if (await drop(table)) {
      tableOf(table.root).partitions += 1;
      continue;
    }
    for (let page = 0, pages = 1; page < pages; page += pagesPerDelete) {
      const [deleted] = await withLocks(() =>
        unhurried(() =>
          session.transaction(async (transaction) => {
            await nameOperator(transaction, context.operator, 'cell.prune');
            return callPruning(transaction, 'delete_foreign_rows', table.name, page, pagesPerDelete);
          }),
        ),
      );
      // The worker has dropped the partition.
      if (!deleted) break;
      pages = deleted.pages;
      rows += deleted.deleted;
      if (deleted.deleted + deleted.kept.length > 0) tableOf(table.root).rows += deleted.deleted;
      report.keptRows += deleted.kept.length;
      report.kept.push(...deleted.kept.slice(0, keptMax - report.kept.length));
      onProgress(`Deleted ${rows.toLocaleString('en')} rows, now of ${table.name}`);
    }
  }
  return finish();
}

/** Calls until no lock is in the way. @throws {Error} after a minute */
async function withLocks<Result>(call: () => Promise<Result[] | null>): Promise<Result[]> {
  for (const startMs = performance.now(); ;) {
    const found = await call();
    if (found !== null) return found;
    if (performance.now() - startMs > locksMaxMs)
      throw new Error('Another session has locked what is to be deleted. Try again.');
    await sleep(lockPauseMs);
  }
}
