import type { Database } from '@deedwire/store';
import { type IdRange, clockStep, storedRange } from '@deedwire/webhooks/tables';
import { splitForward } from '../deliveries/pages.ts';
import { findFirstNumbered, canHaveDropped, daysPerStatement, startOfMs } from './first-numbered.ts';
import {
  type NumberedRow,
  type PulledSubscription,
  selectNumbered,
  selectOldestNumbered,
  type SequenceRange,
} from './statements.ts';

/** Where a page begins. */
export interface PullPosition {
  /** The page begins with the next number. */
  sequence: number;
  /** The deliveries of the page have this id or a later one, unless the clock was set back: the id of the delivery with this number, or a bound. */
  fromId: bigint;
  /** False if it is not known that the delivery with this id has the number. */
  isProven?: boolean;
}

/** Deliveries whose numbers follow each other without a gap. */
export interface NumberedPage {
  /** In the order of their numbers. The first follows the position. */
  rows: NumberedRow[];
  /** The number of the last delivery of the subscription when the page was read. */
  lastSequence: number;
  /** Why the page ends: `full` (or nothing follows), the next delivery has `expired`, or it is `missing`, which must not be. */
  end: 'full' | 'expired' | 'missing';
}

/**
 * Reads the deliveries after a position, in the order of their numbers, and proves by counting that none is missing.
 *
 * A first read finds them in the order of ids. Where the clock was set back, a second one reads a day more. Only if a number is still
 * missing, all that is stored is read.
 *
 * @param limit how many deliveries the page has at most
 * @param onWideRead called before all that is stored is read, and before the second read if the position is not proven and the first
 *   read found nothing: then a client may have made it up
 */
export async function readNumberedPage(
  database: Database,
  subscription: PulledSubscription,
  position: PullPosition,
  limit: number,
  onWideRead: () => void = () => {},
): Promise<NumberedPage> {
  const { id, expiredBefore } = subscription;
  const stored = storedRange(subscription);
  const start = larger(startOfMs(position.fromId), stored.min);
  let wanted: SequenceRange = { after: position.sequence, until: position.sequence + limit };
  let lastSequence = subscription.lastSequence;
  if (position.sequence >= lastSequence) return { rows: [], lastSequence, end: 'full' };

  const found = new Map<number, NumberedRow>();
  const add = (rows: readonly NumberedRow[]): boolean => {
    for (const row of rows) found.set(row.sequence, row);
    return found.size === wanted.until - wanted.after;
  };
  const pageOf = (end: NumberedPage['end']): NumberedPage => ({
    rows: unbroken(found, wanted.after, expiredBefore),
    lastSequence,
    end,
  });

  let readTo: bigint | null = null;
  let isFirst = true;
  for (const range of splitForward({ min: start, before: stored.before }, daysPerStatement)) {
    const read = await selectOldestNumbered(database, id, range, wanted);
    // The snapshot of the first statement decides what the page contains. Later ones can only see more.
    if (isFirst) {
      lastSequence = read.lastSequence;
      wanted = { after: wanted.after, until: Math.min(wanted.until, lastSequence) };
    }
    isFirst = false;
    if (add(read.rows.filter(({ sequence }) => sequence <= wanted.until))) return finish();
    readTo = read.readTo;
    if (readTo !== null) break;
  }

  if (found.size === 0 && position.isProven === false) onWideRead();
  const around: IdRange = { min: start - clockStep, before: readTo === null ? start : readTo + clockStep };
  if (add(await readNumbers(database, id, within(around, stored), wanted))) return finish();
  if (unbroken(found, wanted.after, expiredBefore).length === 0) {
    const first = await findFirstNumbered(database, subscription, expiredBefore);
    if (first === null && canHaveDropped(subscription)) return pageOf('expired');
    if (first !== null && wanted.after + 1 < first.sequence) return pageOf(first.isProven ? 'expired' : 'missing');
  }
  onWideRead();
  add(await readNumbers(database, id, stored, wanted));
  return finish();

  function finish(): NumberedPage {
    const page = pageOf('full');
    const next = wanted.after + page.rows.length + 1;
    if (next > wanted.until) return page;
    return { ...page, end: found.has(next) ? 'expired' : 'missing' };
  }
}

async function readNumbers(
  database: Database,
  id: PulledSubscription['id'],
  range: IdRange,
  wanted: SequenceRange,
): Promise<NumberedRow[]> {
  const rows: NumberedRow[] = [];
  for (const part of splitForward(range, daysPerStatement)) {
    rows.push(...(await selectNumbered(database, id, part, wanted)));
    if (rows.length === wanted.until - wanted.after) break;
  }
  return rows;
}

/** The deliveries after a number, up to the first number that is missing or has expired. */
function unbroken(found: ReadonlyMap<number, NumberedRow>, after: number, expiredBefore: bigint): NumberedRow[] {
  const rows: NumberedRow[] = [];
  for (let next = after + 1; ; next += 1) {
    const row = found.get(next);
    if (row === undefined || BigInt(row.id) < expiredBefore) return rows;
    rows.push(row);
  }
}

function within({ min, before }: IdRange, outer: IdRange): IdRange {
  return { min: larger(min, outer.min), before: before < outer.before ? before : outer.before };
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
