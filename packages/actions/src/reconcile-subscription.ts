import { createHash } from 'node:crypto';
import { formatGid, idAt, nearestIdAt, parseGid } from '@deedwire/domain';
import { type DeliveryStatus, selectDeliveriesById } from '@deedwire/webhooks/deliveries';
import {
  type NumberedRow,
  type PulledSubscription,
  type PullPosition,
  readNumberedPage,
  selectEventBodies,
  selectPulledSubscription,
} from '@deedwire/webhooks/pull';
import type { ActionContext } from './context.ts';
import { RefusedError } from './errors.ts';
import { findPullStart } from './pull-start.ts';
import { parseSubscriptionRef } from './subscription-ref.ts';

export interface ReconcileInput {
  /** The global identifier of a subscription or listener. */
  subscriptionId: string;
  /** The log of the receiver: each line is an id or a JSON object. */
  lines: AsyncIterable<string> | Iterable<string>;
  /** Only deliveries that were numbered at this time or later. */
  since?: Date | undefined;
  /** Only deliveries that were numbered before this time. */
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
  /** Deliveries that exist, and that no line names. */
  missing: ReconciledDelivery[];
  /** Deliveries of which a line has another body. */
  altered: (ReconciledDelivery & LoggedLine)[];
  /** Lines whose ids are not those of deliveries of the subscription in this period. */
  unexpected: LoggedLine[];
  /** How many lines name a delivery that another line names too. */
  repeatedLines: number;
  /** How many lines are about deliveries before or after the period. */
  linesOutside: number;
}

/** What the log says about a delivery. */
interface Logged {
  /** The first line that names it. */
  line: number;
  id: string;
  /** By the digests of the JSON values of its bodies: the first line of each. Undefined without a body: a log has millions of ids. */
  bodies?: Map<string, number>;
  isFound: boolean;
}

interface ReceiverLog {
  byDelivery: Map<string, Logged>;
  byEvent: Map<string, Logged>;
  repeated: number;
}

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
  const { subscriptionId, since, until, onCompared = () => {} } = input;
  const ref = parseSubscriptionRef(gidNamespace, subscriptionId);
  const kind = ref?.isListener === true ? 'LISTENER' : 'PUSH';
  const subscription = ref && (await selectPulledSubscription(store, null, ref.subscriptionId, kind));
  if (ref === null || subscription === null) throw notFound(subscriptionId);
  const log = await readLog(gidNamespace, input.lines);

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
    altered: [],
    unexpected: [],
    repeatedLines: log.repeated,
    linesOutside: 0,
  };
  let position: PullPosition = start;
  for (let isLast = false; !isLast && position.sequence < subscription.lastSequence;) {
    // Retention may have deleted deliveries since the page before.
    const current = await selectPulledSubscription(store, null, subscription.id, kind);
    if (current === null) throw notFound(subscriptionId);
    const page = await readNumberedPage(store, current, position, deliveriesPerPage);
    const last = page.rows.at(-1);
    if (last === undefined && page.end === 'expired') throw expiredDelivery(position.sequence + 1);
    if (last === undefined) throw missingDelivery(position.sequence + 1);
    // The clock can be set back, so later deliveries can be in the period too.
    const wanted = page.rows.filter(({ id }) => before === null || BigInt(id) < before);
    await compare(context, { subscription: current, rows: wanted, log, isListener: ref.isListener, result });
    position = { sequence: last.sequence, fromId: BigInt(last.id) };
    isLast = page.lastSequence === last.sequence;
    onCompared(result.compared, subscription.lastSequence - start.sequence);
  }
  const from = start.fromId;
  for (const { isFound, line, id } of [...log.byDelivery.values(), ...log.byEvent.values()]) {
    if (isFound) continue;
    const number = BigInt(id.split('/').at(-1) ?? '0');
    if (number < from || number >= (before ?? BigInt(idAt(subscription.now)))) result.linesOutside += 1;
    else result.unexpected.push({ line, id });
  }
  result.unexpected.sort((a, b) => a.line - b.line);
  return result;
}

function notFound(subscriptionId: string): RefusedError {
  return new RefusedError('NOT_FOUND', `The subscription ${subscriptionId} does not exist.`);
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
  const withBody: { row: NumberedRow; logged: Logged }[] = [];
  for (const row of rows) {
    const byDelivery = log.byDelivery.get(row.id);
    const byEvent = log.byEvent.get(row.eventId);
    for (const logged of [byDelivery, byEvent]) {
      if (logged === undefined) continue;
      logged.isFound = true;
      if (logged.bodies !== undefined) withBody.push({ row, logged });
    }
    if (byDelivery === undefined && byEvent === undefined) missing.push(row);
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
      const stored = digestOf(JSON.parse(body));
      for (const [digest, line] of found.logged.bodies ?? []) {
        result.comparedBodies += 1;
        if (digest !== stored) altered.push({ row: found.row, line, id: found.logged.id });
      }
    }
    start += bodies.length;
  }
  const shown = [...new Set([...missing, ...altered.map(({ row }) => row)])];
  const ids = shown.map(({ id }) => id).toSorted((a, b) => (BigInt(a) > BigInt(b) ? -1 : 1));
  const statuses = new Map(
    isListener ? [] : (await selectDeliveriesById(store, null, ids)).map(({ id, status }) => [id, status]),
  );
  const toDelivery = (row: NumberedRow): ReconciledDelivery => ({
    sequence: row.sequence,
    deliveryId: formatGid(gidNamespace, 'WebhookDelivery', row.id),
    eventId: formatGid(gidNamespace, 'WebhookEvent', row.eventId),
    type: row.eventType,
    status: statuses.get(row.id) ?? null,
  });
  result.missing.push(...missing.map(toDelivery));
  result.altered.push(...altered.map(({ row, line, id }) => ({ ...toDelivery(row), line, id })));
}

async function readLog(gidNamespace: string, lines: ReconcileInput['lines']): Promise<ReceiverLog> {
  const log: ReceiverLog = { byDelivery: new Map(), byEvent: new Map(), repeated: 0 };
  let line = 0;
  for await (const text of lines) {
    line += 1;
    if (text.trim() === '') continue;
    const { id, body } = readLine(text.trim(), line);
    const deliveryId = parseGid(gidNamespace, 'WebhookDelivery', id);
    const eventId = parseGid(gidNamespace, 'WebhookEvent', id);
    const number = deliveryId ?? eventId;
    if (number === null)
      throw unreadable(line, `${JSON.stringify(id.slice(0, 100))} is not the id of a delivery or an event`);
    const known = deliveryId === null ? log.byEvent : log.byDelivery;
    const earlier = known.get(number);
    if (earlier !== undefined) log.repeated += 1;
    const logged: Logged = earlier ?? { line, id, isFound: false };
    known.set(number, logged);
    if (body === undefined) continue;
    logged.bodies ??= new Map();
    const digest = digestOfLine(body, line);
    if (!logged.bodies.has(digest)) logged.bodies.set(digest, line);
  }
  return log;
}

function readLine(text: string, line: number): { id: string; body: unknown } {
  if (!text.startsWith('{')) return { id: text.replace(/^"(.*)"$/, '$1'), body: undefined };
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(line, 'it begins with `{`, but it is not a JSON object');
  }
  const { deliveryId, body, id } = value;
  if (typeof deliveryId === 'string') {
    if (typeof body !== 'string') return { id: deliveryId, body };
    try {
      return { id: deliveryId, body: JSON.parse(body) };
    } catch {
      return { id: deliveryId, body };
    }
  }
  if (typeof id === 'string') return { id, body: value };
  throw unreadable(line, 'it has neither `deliveryId` nor `id`');
}

function unreadable(line: number, reason: string): RefusedError {
  return new RefusedError(
    'INVALID',
    `Line ${line} of the log cannot be read: ${reason}. A line is a \`webhook-id\`, the \`id\` of an event, a body, or a JSON object with \`deliveryId\` and \`body\`.`,
  );
}

function digestOfLine(body: unknown, line: number): string {
  try {
    return digestOf(body);
  } catch (error) {
    // JSON.parse has no limit, but JSON.stringify calls itself for each level.
    if (error instanceof RangeError) throw unreadable(line, 'its body is nested too deeply');
    throw error;
  }
}

/** The same for JSON values that differ in the order of members only. */
function digestOf(value: unknown): string {
  const sorted = JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
  return createHash('sha256').update(sorted).digest('base64');
}
