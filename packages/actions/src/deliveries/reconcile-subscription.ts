import { formatGid, idAt, nearestIdAt, toRecordId } from '@deedwire/core';
import type { ActionContext } from '../kernel/context.ts';
import { noSuchSubscription } from '../kernel/errors.ts';
import { findSubscription } from '../subscriptions/subscription-ref.ts';
import { selectDeliveriesById } from '../webhooks/deliveries/deliveries.ts';
import type { DeliveryStatus } from '../webhooks/deliveries/pages.ts';
import { selectEventBodies } from '../webhooks/pull/event-bodies.ts';
import { findPullStart } from '../webhooks/pull/first-numbered.ts';
import { type PullPosition, readNumberedPage } from '../webhooks/pull/numbered-page.ts';
import {
  type NumberedRow,
  type PulledSubscription,
  selectNumberedUntilOf,
  selectPulledSubscription,
} from '../webhooks/pull/statements.ts';
import { digestOf, type LoggedId, readReceiverLog, type ReceiverLog } from './receiver-log.ts';

export interface ReconcileInput {
  /** The global identifier of a subscription or listener. */
  subscriptionId: string;
  /** The log of the receiver: each line is an id or a JSON object. */
  lines: AsyncIterable<string> | Iterable<string>;
  /** Only deliveries that were numbered at this time or later. */
  since?: Date | undefined;
  /** Only deliveries of events that were created before this time. */
  until?: Date | undefined;
  /** Called as often as deliveries were compared. */
  onCompared?: (compared: number, of: number) => void;
}

/** A delivery that exists. */
export interface ReconciledDelivery {
  sequence: number;
  deliveryId: string;
  eventId: string;
  type: string;
  /** Null for deliveries of a listener, which are not sent. */
  status: DeliveryStatus | null;
}

/** A line of a log. */
export interface LoggedLine {
  /** Starts at 1. */
  line: number;
  id: string;
}

export interface Reconciliation {
  subscriptionId: string;
  /** The deliveries that were compared. Null if there is none. */
  firstSequence: number | null;
  lastSequence: number | null;
  /** How many deliveries were compared with the log. */
  compared: number;
  /** How many bodies were compared. */
  comparedBodies: number;
  /** Deliveries that exist, and that no line names: the first 100,000. */
  missing: ReconciledDelivery[];
  missingCount: number;
  /** Deliveries of which a line has another body: the first 100,000. */
  altered: (ReconciledDelivery & LoggedLine)[];
  alteredCount: number;
  /** Lines whose ids are not those of deliveries of the subscription in this period: the first 100,000. */
  unexpected: LoggedLine[];
  unexpectedCount: number;
  /** How many lines name a delivery that another line names too. */
  repeatedLines: number;
  /** How many lines are about deliveries before or after the period. */
  linesOutside: number;
  /** Events that were created before this time had their sequences. Later ones can lack one, and were then not compared. */
  numberedUntil: Date;
  /** Whether an event of the period waits for its sequence, so that the comparison is no proof. */
  isWaiting: boolean;
}

/** How many of each kind a result lists, so that it needs a bounded memory. */
const listedMax = 100_000;

// Reads about 20 buffers of deliveries and 1,500 of payloads.
const deliveriesPerPage = 500;

/**
 * Compares what a receiver has logged with what exists. A line of the log is the `webhook-id` of a request, the `id` of an event, the
 * body of a request, or an object with `deliveryId` and `body`. Empty lines are ignored. Bodies are compared as JSON values.
 *
 * @throws {RefusedError} `NOT_FOUND` if the subscription does not exist, `INVALID` for a line that names no event
 * @throws {Error} if a delivery that must exist is missing in the database
 */
export async function reconcileSubscription(context: ActionContext, input: ReconcileInput): Promise<Reconciliation> {
  const { gidNamespace, store } = context;
  const { since, until, onCompared = () => {} } = input;
  const { ref, subscriptionId } = await findSubscription(context, input.subscriptionId);
  const kind = ref.isListener ? 'LISTENER' : 'PUSH';
  // Before the subscription, whose deliveries then include each event that was numbered until then.
  const { numberedUntil, waitingSince } = await selectNumberedUntilOf(store, ref.subscriptionId);
  const subscription = await selectPulledSubscription(store, null, ref.subscriptionId, kind);
  if (subscription === null) throw noSuchSubscription(subscriptionId);
  const log = await readReceiverLog(gidNamespace, input.lines);

  const before = until === undefined ? null : BigInt(nearestIdAt(until));
  const start = await findPullStart(store, subscription, since ?? null);
  if (!start.isProven) throw missingDelivery(start.sequence);
  const result: Reconciliation = {
    subscriptionId,
    firstSequence: null,
    lastSequence: null,
    compared: 0,
    comparedBodies: 0,
    missing: [],
    missingCount: 0,
    altered: [],
    alteredCount: 0,
    unexpected: [],
    unexpectedCount: 0,
    repeatedLines: log.repeatedLines,
    linesOutside: 0,
    numberedUntil,
    isWaiting: waitingSince !== null && waitingSince < (until ?? subscription.now),
  };
  let position: PullPosition = start;
  for (let isLast = false; !isLast && position.sequence < subscription.lastSequence;) {
    // Retention may have deleted deliveries since the page before.
    const current = await selectPulledSubscription(store, null, subscription.id, kind);
    if (current === null) throw noSuchSubscription(subscriptionId);
    const page = await readNumberedPage(store, current, position, deliveriesPerPage);
    const last = page.rows.at(-1);
    if (last === undefined && page.end === 'expired') throw expiredDelivery(position.sequence + 1);
    if (last === undefined) throw missingDelivery(position.sequence + 1);
    // A late worker numbers an event long after its creation. The clock can be set back, so later deliveries can be in the period too.
    const wanted = page.rows.filter(({ eventId }) => before === null || BigInt(eventId) < before);
    await compare(context, { subscription: current, rows: wanted, log, isListener: ref.isListener, result });
    position = { sequence: last.sequence, fromId: BigInt(last.id) };
    isLast = page.lastSequence === last.sequence;
    onCompared(result.compared, subscription.lastSequence - start.sequence);
  }
  const isInside = (id: bigint): boolean => id >= start.fromId && id < (before ?? BigInt(idAt(subscription.now)));
  addUnexpected(result, gidNamespace, log, isInside);
  return result;
}

function addUnexpected(
  result: Reconciliation,
  gidNamespace: string,
  { deliveries, events }: ReceiverLog,
  isInside: (id: bigint) => boolean,
): void {
  for (const [type, ids] of [
    ['WebhookDelivery', deliveries],
    ['WebhookEvent', events],
  ] as const) {
    let listed = 0;
    for (const [number, { line, isFound }] of ids) {
      if (isFound) continue;
      if (!isInside(BigInt(number))) {
        result.linesOutside += 1;
        continue;
      }
      result.unexpectedCount += 1;
      listed += 1;
      if (listed <= listedMax) result.unexpected.push({ line, id: formatGid(gidNamespace, type, toRecordId(number)) });
    }
  }
  result.unexpected.sort((a, b) => a.line - b.line);
  result.unexpected.splice(listedMax);
}

function expiredDelivery(sequence: number): Error {
  return new Error(`Retention has deleted the delivery ${sequence} meanwhile. Run the command again.`);
}

function missingDelivery(sequence: number): Error {
  return new Error(
    `The delivery ${sequence} of the subscription is missing in the database, although it must exist. Restore it from a backup, or compare a later period with --since.`,
  );
}

async function compare(
  context: ActionContext,
  {
    subscription,
    rows,
    log,
    isListener,
    result,
  }: {
    subscription: PulledSubscription;
    rows: readonly NumberedRow[];
    log: ReceiverLog;
    isListener: boolean;
    result: Reconciliation;
  },
): Promise<void> {
  const { gidNamespace, store } = context;
  const missing: NumberedRow[] = [];
  const withBody: { row: NumberedRow; logged: LoggedId; id: string }[] = [];
  for (const row of rows) {
    const named = [
      { logged: log.deliveries.get(row.id), id: formatGid(gidNamespace, 'WebhookDelivery', row.id) },
      { logged: log.events.get(row.eventId), id: formatGid(gidNamespace, 'WebhookEvent', row.eventId) },
    ];
    for (const { logged, id } of named) {
      if (logged === undefined) continue;
      logged.isFound = true;
      if (logged.bodies.size > 0) withBody.push({ row, logged, id });
    }
    if (named.every(({ logged }) => logged === undefined)) missing.push(row);
  }
  result.compared += rows.length;
  result.firstSequence ??= rows[0]?.sequence ?? null;
  result.lastSequence = rows.at(-1)?.sequence ?? result.lastSequence;

  const altered: { row: NumberedRow; line: number; id: string }[] = [];
  for (let start = 0; start < withBody.length;) {
    const group = withBody.slice(start, start + deliveriesPerPage);
    const { bodies, isMissing } = await selectEventBodies(
      store,
      group.map(({ row }) => row),
      subscription.expiredBefore,
    );
    const next = group[bodies.length];
    if (isMissing && next !== undefined) throw missingDelivery(next.row.sequence);
    for (const [index, body] of bodies.entries()) {
      const found = group[index];
      if (found === undefined || body === null) continue;
      const { row, logged, id } = found;
      const stored = digestOf(JSON.parse(body));
      result.comparedBodies += logged.bodies.size;
      for (const [digest, line] of logged.bodies) if (digest !== stored) altered.push({ row, line, id });
    }
    start += bodies.length;
  }
  const listedMissing = missing.slice(0, Math.max(0, listedMax - result.missingCount));
  const listedAltered = altered.slice(0, Math.max(0, listedMax - result.alteredCount));
  result.missingCount += missing.length;
  result.alteredCount += altered.length;
  const shown = [...new Set([...listedMissing, ...listedAltered.map(({ row }) => row)])];
  const ids = shown.map(({ id }) => id).toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const statuses = new Map(
    isListener || ids.length === 0
      ? []
      : (await selectDeliveriesById(store, null, ids)).map(({ id, status }) => [id, status]),
  );
  const toDelivery = (row: NumberedRow): ReconciledDelivery => ({
    sequence: row.sequence,
    deliveryId: formatGid(gidNamespace, 'WebhookDelivery', row.id),
    eventId: formatGid(gidNamespace, 'WebhookEvent', row.eventId),
    type: row.eventType,
    status: statuses.get(row.id) ?? null,
  });
  result.missing.push(...listedMissing.map(toDelivery));
  result.altered.push(...listedAltered.map(({ row, line, id }) => ({ ...toDelivery(row), line, id })));
}
