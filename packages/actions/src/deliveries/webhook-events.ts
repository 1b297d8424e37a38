import { formatGid, idAt, parseRecordId, type RecordId } from '@deedwire/core';
import type { ActionContext, Caller } from '../kernel/context.ts';
import { InvalidArgumentError } from '../kernel/errors.ts';
import { formatCursor, type ListOrder, type Page, type PageRequest, readPageRequest } from '../kernel/page.ts';
import { parseSubscriptionRef } from '../subscriptions/subscription-ref.ts';
import type { PayloadDeletion } from '../webhooks/deliveries/pages.ts';
import { type EventBody, isDropped, selectEventBodies } from '../webhooks/pull/event-bodies.ts';
import type { EventWaits } from '../webhooks/pull/event-waits.ts';
import { findPullStart, findFirstNumbered } from '../webhooks/pull/first-numbered.ts';
import { type NumberedPage, type PullPosition, readNumberedPage } from '../webhooks/pull/numbered-page.ts';
import {
  type NumberedRow,
  type PulledSubscription,
  selectNumberedUntil,
  selectNumberOf,
  selectPulledSubscription,
} from '../webhooks/pull/statements.ts';

/** `WebhookEvent`. */
export interface WebhookEvent {
  id: string;
  deliveryId: string;
  sequence: number;
  type: string;
  version: string;
  timestamp: Date;
  isTest: boolean;
  /** Null if it could not be rendered, is deleted, or if the request does not read payloads. */
  payload: string | null;
  payloadDeletion: PayloadDeletion | null;
}

/** `WebhookEventConnection`. */
export interface WebhookEventPage extends Page<WebhookEvent> {
  /** 0 before the first event. */
  lastSequence: number;
  /** Null if no event is kept. */
  firstKeptSequence: () => Promise<number | null>;
  /** Every event of the account that was created before is in the list. 1970 if the request does not read it. */
  numberedUntil: Date;
}

/** Notes that a listener was read: it lives from being read. */
export interface WebhookReads {
  /** Called for requests while no read was noted within the last hour. Must return at once, and must not throw. */
  note(subscriptionId: RecordId<'WebhookSubscription'>): void;
}

/** An event that must exist was not found, or its payload was not. */
export interface MissingEvent {
  /** The global identifier of the subscription, or of the listener. */
  subscriptionId: string;
  sequence: number;
}

/** The dependencies of use cases that read the events of a subscription. */
export interface PullContext extends ActionContext {
  /** One for the process. */
  eventWaits: EventWaits;
  webhookReads: WebhookReads;
  /** Reports an event that must exist, as an alarm. */
  reportMissingEvent: (missing: MissingEvent) => void;
}

/** The event after a cursor is no longer kept. The message may be shown to clients. */
export class CursorExpiredError extends Error {
  override readonly name = 'CursorExpiredError';
  /** Null if no event is kept. */
  readonly firstKeptSequence: number | null;

  constructor(firstKeptSequence: number | null) {
    const kept =
      firstKeptSequence === null
        ? 'No event is kept.'
        : `The first one that is kept has the sequence ${firstKeptSequence}.`;
    super(`The event after this cursor is no longer kept. ${kept}`);
    this.firstKeptSequence = firstKeptSequence;
  }
}

/** A page could not be proven to be complete. It is not returned. */
class MissingEventError extends Error {
  override readonly name = 'MissingEventError';
  readonly code = 'EVENT_MISSING';

  constructor({ subscriptionId, sequence }: MissingEvent) {
    super(`The event ${sequence} of ${subscriptionId} is missing.`);
  }
}

export interface WebhookEventsRequest extends PageRequest {
  /** The global identifier of the subscription, or of a listener. */
  subscriptionId: string;
  /** Where a first page starts. Null or undefined starts it at the first event that is kept. */
  since?: Date | null | undefined;
  /** 0 to 20. Null or undefined selects 0. */
  waitSeconds?: number | null | undefined;
}

export interface WebhookEventsOptions {
  /** Payloads are read, and a page ends before they have more than 400,000 bytes. */
  readsPayloads: boolean;
  readsNumberedUntil: boolean;
  /** Runs a wait, so that the request occupies nothing meanwhile, or returns at once if the request cannot wait. The signal ends the wait. */
  pauseFor: (wait: (signal: AbortSignal) => Promise<void>) => Promise<void>;
  /** Called before many deliveries of the subscription are read, because a number was not found where it should be. */
  onWideRead: () => void;
}

const waitSecondsMax = 20;

interface Cursor extends PullPosition {
  subscriptionId: RecordId<'WebhookSubscription'>;
  /** `fromId` is the id of the delivery with this number. Otherwise it is a bound: the cursor is that of an empty page. */
  isOfEvent: boolean;
}

const eventOrder: ListOrder<Cursor, Cursor> = {
  name: 'webhookEvents',
  description: '`webhookEvents`',
  write: ({ subscriptionId, sequence, fromId, isOfEvent }) =>
    `${subscriptionId}.${sequence}.${isOfEvent ? '' : '~'}${fromId}`,
  read(text) {
    const [first = '', second = '', third = '', ...others] = text.split('.');
    const isOfEvent = !third.startsWith('~');
    const fromId = parseRecordId(isOfEvent ? third : third.slice(1));
    const subscriptionId = parseRecordId<'WebhookSubscription'>(first);
    const sequence = /^\d{1,16}$/.test(second) ? Number(second) : Number.NaN;
    if (subscriptionId === null || fromId === null || others.length > 0 || !Number.isSafeInteger(sequence)) return null;
    return { subscriptionId, sequence, fromId: BigInt(fromId), isOfEvent };
  },
};

/**
 * A page of the events of a subscription of the caller, in the order of their sequence. It continues the page before it without a gap,
 * or is not returned. Null if the caller has no subscription with this identifier.
 *
 * @throws {InvalidArgumentError} if `first`, `after`, `since` or `waitSeconds` is invalid
 * @throws {CursorExpiredError} if the event after the cursor is no longer kept
 * @throws {MissingEventError} if the next event is missing. It was reported.
 */
export async function listWebhookEvents(
  context: PullContext,
  caller: Caller,
  request: WebhookEventsRequest,
  options: WebhookEventsOptions,
): Promise<WebhookEventPage | null> {
  const { after, limit } = readPageRequest(eventOrder, request);
  const waitSeconds = request.waitSeconds ?? 0;
  const since = request.since ?? null;
  if (!(waitSeconds >= 0 && waitSeconds <= waitSecondsMax))
    throw new InvalidArgumentError(`\`waitSeconds\` must be 0 to ${waitSecondsMax}; it is ${waitSeconds}.`);
  if (after !== null && since !== null)
    throw new InvalidArgumentError('`after` continues at its event, so it cannot be combined with `since`.');

  const ref = parseSubscriptionRef(context.gidNamespace, request.subscriptionId);
  if (ref === null) return null;
  const kind = ref.isListener ? 'LISTENER' : 'PUSH';
  const open = (): Promise<PulledSubscription | null> =>
    selectPulledSubscription(context.store, caller.accountId, ref.subscriptionId, kind);
  // Before the subscription, so that a delivery that is dropped meanwhile counts as expired.
  const numberOfCursor =
    after?.isOfEvent === true ? await selectNumberOf(context.store, ref.subscriptionId, after.fromId) : null;
  // Before the page, which then has each event that was numbered until then.
  const numberedUntil = options.readsNumberedUntil
    ? await selectNumberedUntil(context.store, caller.accountId)
    : new Date(0);
  let subscription = await open();
  if (subscription === null) return null;
  if (subscription.mustNoteRead) context.webhookReads.note(ref.subscriptionId);
  const report: Report = (sequence, rows) => reportMissing(context, request.subscriptionId, sequence, rows);

  const position =
    after === null
      ? { ...(await startOf(context, subscription, since, report)), isOfEvent: false, isProven: false }
      : continueAt(subscription, after, numberOfCursor);
  const read = (current: PulledSubscription): Promise<NumberedPage> =>
    readNumberedPage(context.store, current, position, limit - 1, options.onWideRead);
  let page = await read(subscription);
  if (page.rows.length === 0 && page.end === 'full' && waitSeconds > 0) {
    const wait = {
      accountId: caller.accountId,
      subscriptionId: subscription.id,
      after: page.lastSequence,
      ms: waitSeconds * 1000,
    };
    await options.pauseFor((signal) => context.eventWaits.wait({ ...wait, signal }));
    subscription = await open();
    if (subscription === null) return null;
    page = await read(subscription);
  }
  if (page.end === 'expired' && page.rows.length === 0)
    throw new CursorExpiredError(await firstKept(context, subscription));
  if (page.end === 'missing') report(position.sequence + page.rows.length + 1, page.rows);
  const { rows, bodies } = options.readsPayloads
    ? await withBodies(context, subscription, page.rows, report)
    : { rows: page.rows, bodies: [] };
  return toEventPage(context, { request, subscription, position, page, rows, bodies, numberedUntil });
}

type Position = Omit<Cursor, 'subscriptionId'>;

/**
 * After the database was restored to an earlier time, other events get the numbers of those that were lost. Continuing at such a
 * number would skip the events before it.
 *
 * @param number of the delivery that the cursor names. Null if it is not stored.
 */
function continueAt(
  { id, lastSequence, expiredBefore }: PulledSubscription,
  { subscriptionId, ...position }: Cursor,
  number: number | null,
): Position {
  const { sequence, fromId, isOfEvent } = position;
  if (subscriptionId !== id) throw new InvalidArgumentError('`after` is a cursor of another subscription.');
  const isStored = !isOfEvent || number === sequence || (number === null && fromId < expiredBefore);
  if (sequence > lastSequence || !isStored)
    throw new InvalidArgumentError('`after` is not a cursor of an event of this subscription.');
  return { ...position, isProven: number === sequence };
}

/** Where a first page begins: at the first event from `since` on, or at the first one that is kept. */
async function startOf(
  context: PullContext,
  subscription: PulledSubscription,
  since: Date | null,
  report: Report,
): Promise<PullPosition> {
  const { now } = subscription;
  const start = await findPullStart(context.store, subscription, since !== null && since > now ? now : since);
  if (!start.isProven) report(start.sequence, []);
  // Later events have later ids, unless the clock is set back. The id is drawn shortly before the commit.
  return { sequence: start.sequence, fromId: start.isFound ? start.fromId : BigInt(idAt(now)) - oneSecond };
}

const oneSecond = 1_000n << 22n;

async function firstKept({ store }: ActionContext, subscription: PulledSubscription): Promise<number | null> {
  if (subscription.lastSequence === 0) return null;
  return (await findFirstNumbered(store, subscription, subscription.expiredBefore))?.sequence ?? null;
}

/** Reports the event after `rows`. Throws a `MissingEventError` if there are none. */
type Report = (sequence: number, rows: readonly NumberedRow[]) => void;

function reportMissing(
  { reportMissingEvent }: PullContext,
  subscriptionId: string,
  sequence: number,
  rows: readonly NumberedRow[],
): void {
  const missing = { subscriptionId, sequence };
  reportMissingEvent(missing);
  if (rows.length === 0) throw new MissingEventError(missing);
}

async function withBodies(
  context: PullContext,
  subscription: PulledSubscription,
  rows: readonly NumberedRow[],
  report: Report,
): Promise<{ rows: readonly NumberedRow[]; bodies: readonly EventBody[] }> {
  if (rows.length === 0) return { rows, bodies: [] };
  const { bodies, isMissing } = await selectEventBodies(context.store, rows, subscription.expiredBefore);
  const found = rows.slice(0, bodies.length);
  const next = rows[bodies.length];
  if (isMissing && next !== undefined) report(next.sequence, found);
  return { rows: found, bodies };
}

function deletionOf(row: NumberedRow, expiredBefore: bigint): PayloadDeletion | null {
  if (row.isErased) return 'ERASED';
  return isDropped(row, expiredBefore) ? 'RETENTION' : null;
}

interface ReadPage {
  request: WebhookEventsRequest;
  subscription: PulledSubscription;
  position: Position;
  page: NumberedPage;
  rows: readonly NumberedRow[];
  /** Empty if payloads are not read. */
  bodies: readonly EventBody[];
  numberedUntil: Date;
}

function toEventPage(
  context: PullContext,
  { request, subscription, position, page, rows, bodies, numberedUntil }: ReadPage,
): WebhookEventPage {
  const { gidNamespace } = context;
  const cursorAt = (at: Position): string =>
    formatCursor(eventOrder.name, eventOrder.write({ subscriptionId: subscription.id, ...at }));
  const edges = rows.map((row, index) => ({
    cursor: cursorAt({ sequence: row.sequence, fromId: BigInt(row.id), isOfEvent: true }),
    node: {
      id: formatGid(gidNamespace, 'WebhookEvent', row.eventId),
      deliveryId: formatGid(gidNamespace, 'WebhookDelivery', row.id),
      sequence: row.sequence,
      type: row.eventType,
      version: row.eventVersion,
      timestamp: row.occurredAt,
      isTest: row.isTest,
      payload: bodies[index] ?? null,
      payloadDeletion: deletionOf(row, subscription.expiredBefore),
    },
  }));
  return {
    edges,
    // An empty page has one too, so that the next request continues there and not at a later beginning.
    endCursor: edges.at(-1)?.cursor ?? cursorAt(position),
    hasNextPage: (rows.at(-1)?.sequence ?? position.sequence) < page.lastSequence,
    hasPreviousPage: (request.after ?? null) !== null,
    lastSequence: page.lastSequence,
    firstKeptSequence: () => firstKept(context, subscription),
    numberedUntil,
  };
}
