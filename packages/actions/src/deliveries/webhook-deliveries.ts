import {
  eventOf,
  formatGid,
  type GidTypeName,
  parseGid,
  readEventRecord,
  type RecordId,
  timeOf,
  timeoutMaxSeconds,
} from '@deedwire/core';
import type { PageQuery } from '@deedwire/store';
import { findAccount } from '../accounts/accounts.ts';
import type { ActionContext, Caller } from '../kernel/context.ts';
import { InvalidArgumentError, RefusedError } from '../kernel/errors.ts';
import { orderOfIds, type Page, type PageRequest, readPageRequest, toPage } from '../kernel/page.ts';
import { requireSubscription } from '../subscriptions/subscription-ref.ts';
import { describeUnknownType } from '../subscriptions/webhook-event-types.ts';
import { adviceFor, type ShownAttemptError, toShownAttemptError } from '../webhooks/deliveries/attempt-advice.ts';
import { type AttemptRow, type AttemptsPage, selectAttempts } from '../webhooks/deliveries/attempts.ts';
import { type Delay, selectDelays } from '../webhooks/deliveries/delay.ts';
import { selectDeliveriesOfEach, type SubscriptionPage } from '../webhooks/deliveries/deliveries-of-each.ts';
import { selectDeliveriesOfEvent } from '../webhooks/deliveries/deliveries-of-event.ts';
import { type RecordEvents, selectDeliveriesOfRecord } from '../webhooks/deliveries/deliveries-of-record.ts';
import {
  type DeliveryFilter,
  selectDeliveries,
  selectDeliveriesOfAllAccounts,
  selectDelivery,
} from '../webhooks/deliveries/deliveries.ts';
import {
  type ShownBody,
  toShownBody,
  type AttemptKey,
  type ExchangeRow,
  selectExchanges,
  selectResponseBodies,
  selectShownPayloads,
} from '../webhooks/deliveries/exchanges.ts';
import { AttemptFollower, type Followed } from '../webhooks/deliveries/followed-attempts.ts';
import type {
  DeliveriesOwner,
  DeliveryRow,
  DeliveryStatus,
  FoundPage,
  PayloadDeletion,
} from '../webhooks/deliveries/pages.ts';
import {
  type EventFilter,
  type SearchEvents,
  selectSearchedDeliveries,
} from '../webhooks/deliveries/searched-deliveries.ts';

/** `WebhookDelivery`, without its attempts. */
export interface WebhookDelivery {
  id: string;
  /** The global identifier of the subscription. */
  subscriptionId: string;
  sequence: number;
  createdAt: Date;
  status: DeliveryStatus;
  isTest: boolean;
  event: { id: string; type: string; version: string; timestamp: Date };
  /** Null if no attempt is planned. */
  nextAttemptAt: Date | null;
  payloadDeletion: PayloadDeletion | null;
  /**
   * When workers claimed it without recording an attempt, after another worker had died. The request of the last claim of a `PENDING`
   * delivery may be in flight. A `FAILED` delivery with claims failed because of them. Null for almost all.
   */
  claimedAt: Date[] | null;
}

export function toWebhookDelivery(gidNamespace: string, row: DeliveryRow): WebhookDelivery {
  return {
    id: formatGid(gidNamespace, 'WebhookDelivery', row.id),
    subscriptionId: formatGid(gidNamespace, 'WebhookSubscription', row.subscriptionId),
    sequence: Number(row.sequence),
    createdAt: timeOf(row.id),
    status: row.status,
    isTest: row.isTest,
    event: {
      id: formatGid(gidNamespace, 'WebhookEvent', row.eventId),
      type: row.eventType,
      version: row.eventVersion,
      timestamp: row.occurredAt,
    },
    nextAttemptAt: row.dueAt,
    payloadDeletion: row.payloadDeletion,
    claimedAt: row.claimedAt,
  };
}

/** A delivery of the caller. Null if the caller has no delivery with this identifier. */
export async function findWebhookDelivery(
  context: ActionContext,
  caller: Caller,
  gid: string,
): Promise<WebhookDelivery | null> {
  const id = parseGid(context.gidNamespace, 'WebhookDelivery', gid);
  const row = id === null ? null : await selectDelivery(context.store, caller.accountId, id);
  return row === null ? null : toWebhookDelivery(context.gidNamespace, row);
}

const deliveryOrder = orderOfIds<'WebhookDelivery'>('webhookDeliveries');

/** A filter that is null or undefined does not restrict the list. */
export interface WebhookDeliveriesRequest extends PageRequest {
  subscriptionId?: string | null | undefined;
  status?: DeliveryStatus | null | undefined;
}

/** A filter that is null or undefined does not restrict the list. */
export interface FilteredDeliveriesRequest extends WebhookDeliveriesRequest, SearchEvents {
  /** A page reads at most 5,000 deliveries, so it can be short. */
  eventType?: string | null | undefined;
  /** Only deliveries of events about the record with this global identifier. */
  recordId?: string | null | undefined;
  /** Only deliveries of the event with this global identifier. A page reads a bounded number of deliveries, so it can be short. */
  eventId?: string | null | undefined;
  /** Only deliveries that were created at this time or later. */
  since?: Date | null | undefined;
  /** Only deliveries that were created before this time. */
  until?: Date | null | undefined;
}

/** The caller's deliveries, newest first. Empty if `subscriptionId`, `recordId` or `eventId` does not name a record of the caller. */
export async function listWebhookDeliveries(
  context: ActionContext,
  caller: Caller,
  request: FilteredDeliveriesRequest,
): Promise<Page<WebhookDelivery>> {
  const gid = request.subscriptionId ?? null;
  const subscriptionId = gid === null ? null : parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  const { status = null, recordId = null, since = null, until = null } = request;
  const filter = { accountId: caller.accountId, subscriptionId, status, since, until };
  const events = eventFilterOf(context, request);
  return readPage(context, request, async (page) => {
    if (events === null || (gid !== null && subscriptionId === null)) return { rows: [], readTo: null };
    if (recordId === null) return selectFiltered(context, filter, events, page, request);
    const about = recordId.startsWith('gid://') ? eventsAbout(context, recordId, events) : null;
    return selectDeliveriesOfRecord(context.store, filter, about, page, request.onFurtherPart);
  });
}

/** Null if no event can have the identifier. */
function eventFilterOf(
  { gidNamespace }: ActionContext,
  { eventType = null, eventId: gid = null }: Pick<FilteredDeliveriesRequest, 'eventId' | 'eventType'>,
): EventFilter | null {
  const eventId = gid === null ? null : parseGid(gidNamespace, 'WebhookEvent', gid);
  return gid !== null && eventId === null ? null : { eventType, eventId };
}

/** @throws {InvalidArgumentError} also if nothing is read */
async function readPage(
  { gidNamespace }: ActionContext,
  request: PageRequest,
  select: (page: PageQuery<'WebhookDelivery'>) => Promise<FoundPage>,
): Promise<Page<WebhookDelivery>> {
  const { after, limit } = readPageRequest(deliveryOrder, request);
  const { rows, readTo } = await select({ afterId: after, limit });
  const continuation = readTo === null ? null : { id: readTo };
  return toPage(deliveryOrder, request, rows, (row) => toWebhookDelivery(gidNamespace, row), continuation);
}

async function selectFiltered(
  { store }: ActionContext,
  filter: DeliveryFilter,
  { eventType, eventId }: EventFilter,
  page: PageQuery<'WebhookDelivery'>,
  searching: SearchEvents,
): Promise<FoundPage> {
  if (eventId !== null) return selectDeliveriesOfEvent(store, filter, { eventType, eventId }, page, searching);
  return eventType === null
    ? selectDeliveries(store, filter, page, searching.onFurtherPart)
    : selectSearchedDeliveries(store, filter, { eventType, eventId }, page, searching);
}

/**
 * The events about a record. Null if there can be none.
 *
 * @throws {RefusedError} `INVALID` for an id that is not a global identifier and can be of several types
 */
function eventsAbout(context: ActionContext, record: string, { eventType, eventId }: EventFilter): RecordEvents | null {
  const found = context.service.events.flatMap(({ type, record: of }) => {
    const own =
      of === null || (eventType !== null && eventType !== type) ? null : readEventRecord(context, of.type, record);
    return own === null || of === null ? [] : [{ type, recordType: of.type, ...own }];
  });
  const [first] = found;
  if (first === undefined) return null;
  if (found.some(({ id }) => id !== first.id)) {
    const types = [...new Set(found.map(({ recordType }) => recordType))];
    throw new RefusedError(
      'INVALID',
      `${record} can be the id of several types. Pass ${types.map((type) => `${type}/${record}`).join(' or ')}.`,
    );
  }
  return { recordId: first.id, isDrawn: first.key === null, eventTypes: found.map(({ type }) => type), eventId };
}

/** A page of the deliveries to a subscription. */
export type SubscriptionDeliveriesRequest = WebhookDeliveriesRequest & { subscriptionId: string };

/**
 * Pages of the deliveries to subscriptions of the caller, newest first, read together.
 *
 * @param onFurtherPart called for each statement that reads a part of the history because those before it did not fill its pages
 * @returns one for each request, in the same order. An error for a request in which `first` or `after` is invalid.
 */
export async function listDeliveriesOfSubscriptions(
  context: ActionContext,
  caller: Caller,
  requests: readonly SubscriptionDeliveriesRequest[],
  onFurtherPart?: () => void,
): Promise<(Page<WebhookDelivery> | InvalidArgumentError)[]> {
  return readTogether(
    requests,
    (request) => toSubscriptionPage(context, request),
    (pages) => selectDeliveriesOfEach(context.store, caller.accountId, pages, onFurtherPart),
    (rows, request) => toPage(deliveryOrder, request, rows, (row) => toWebhookDelivery(context.gidNamespace, row)),
  );
}

/** Reads the pages of all valid requests with one call. The others get their error. */
async function readTogether<Request, Query extends object, Row, Result>(
  requests: readonly Request[],
  toQuery: (request: Request) => Query | InvalidArgumentError,
  select: (queries: readonly Query[]) => Promise<Row[][]>,
  toResult: (rows: readonly Row[], request: Request) => Result,
): Promise<(Result | InvalidArgumentError)[]> {
  const queries = requests.map(toQuery);
  const pages = await select(queries.filter((query): query is Query => !(query instanceof InvalidArgumentError)));
  let read = 0;
  return requests.map((request, index) => {
    const query = queries[index];
    if (query instanceof InvalidArgumentError) return query;
    read += 1;
    return toResult(pages[read - 1] ?? [], request);
  });
}

function toSubscriptionPage(
  context: ActionContext,
  request: SubscriptionDeliveriesRequest,
): SubscriptionPage | InvalidArgumentError {
  const subscriptionId = idOf(context, 'WebhookSubscription', request.subscriptionId);
  try {
    const { after, limit } = readPageRequest(deliveryOrder, request);
    return { subscriptionId, status: request.status ?? null, afterId: after, limit };
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error;
    throw error;
  }
}

/** A filter that is null or undefined does not restrict the list. */
export interface AllDeliveriesRequest extends FilteredDeliveriesRequest {
  /** The global identifier of an account. */
  accountId?: string | null | undefined;
  /** As of the caller's deliveries, or the id of the record. */
  recordId?: string | null | undefined;
}

/**
 * The deliveries of all accounts, newest first.
 *
 * @throws {RefusedError} `NOT_FOUND` if the subscription or the account does not exist, `INVALID` for an event or an event type without either
 */
export async function listAllWebhookDeliveries(
  context: ActionContext,
  request: AllDeliveriesRequest,
): Promise<Page<WebhookDelivery>> {
  const { status = null, eventType = null, eventId = null, recordId = null, since = null, until = null } = request;
  if (eventType !== null && eventOf(context.service, eventType) === undefined)
    throw new RefusedError('INVALID', describeUnknownType(context.service, null, eventType));
  const of = await ownerOfDeliveries(context, request);
  if (of === null && recordId === null && (eventType !== null || eventId !== null))
    throw new RefusedError(
      'INVALID',
      'Deliveries of an event or an event type are listed for an account, a subscription or a record only.',
    );
  const events = eventFilterOf(context, request);
  const others = { status, since, until };
  return readPage(context, request, async (page) => {
    if (events === null) return { rows: [], readTo: null };
    if (recordId !== null) {
      const filter = { ...(of ?? { accountId: null, subscriptionId: null }), ...others };
      const about = eventsAbout(context, recordId, events);
      return selectDeliveriesOfRecord(context.store, filter, about, page, request.onFurtherPart);
    }
    if (of === null) return selectDeliveriesOfAllAccounts(context.store, others, page);
    return selectFiltered(context, { ...of, ...others }, events, page, request);
  });
}

/** Null for the deliveries of all accounts. */
async function ownerOfDeliveries(
  context: ActionContext,
  request: AllDeliveriesRequest,
): Promise<DeliveriesOwner | null> {
  const [accountGid, subscriptionGid] = [request.accountId ?? null, request.subscriptionId ?? null];
  const subscriptionId =
    subscriptionGid === null ? null : parseGid(context.gidNamespace, 'WebhookSubscription', subscriptionGid);
  if (subscriptionGid !== null) await requireSubscription(context, subscriptionGid);
  if (accountGid === null) return subscriptionId === null ? null : { accountId: null, subscriptionId };
  return { accountId: (await findAccount(context, null, accountGid)).id, subscriptionId };
}

/** What an attempt sent and received, with the beginning of the response body. */
export type WholeExchange = Omit<WebhookExchange, 'key'> & {
  responseBody: string | null;
  responseBodyBase64: string | null;
};

/**
 * A delivery of any account, with its latest 20 attempts, newest first, and what they sent and received.
 *
 * @throws {RefusedError} `NOT_FOUND` if the delivery does not exist
 */
export async function readWebhookDelivery(
  context: ActionContext,
  input: { deliveryId: string },
): Promise<WebhookDelivery & { attempts: (WebhookAttempt & { exchange: WholeExchange | null })[] }> {
  const delivery = await requireDelivery(context, input.deliveryId);
  const [rows = []] = await selectAttempts(context.store, latestPages(context, [delivery], attemptsShown));
  const exchanges = await readWebhookExchanges(context, rows.map(toListedAttempt));
  const kept = exchanges.filter((exchange) => exchange !== null);
  const bodies = await readResponseBodies(context, kept);
  const attempts = rows.map((row, index) => {
    const exchange = exchanges[index] ?? null;
    if (exchange === null) return { ...toWebhookAttempt(row), exchange };
    const { key: _, responseBytes, replayId, ...details } = exchange;
    const { text: responseBody = null, base64: responseBodyBase64 = null } = bodies[kept.indexOf(exchange)] ?? {};
    const whole = { ...details, responseBody, responseBodyBase64, responseBytes, replayId };
    return { ...toWebhookAttempt(row), exchange: whole };
  });
  return { ...delivery, attempts };
}

async function requireDelivery(context: ActionContext, gid: string): Promise<WebhookDelivery> {
  const id = parseGid(context.gidNamespace, 'WebhookDelivery', gid);
  const row = id === null ? null : await selectDelivery(context.store, null, id);
  if (row === null) throw new RefusedError('NOT_FOUND', `The delivery ${gid} does not exist.`);
  return toWebhookDelivery(context.gidNamespace, row);
}

/** `WebhookAttempt`. */
export interface WebhookAttempt extends Pick<AttemptRow, 'number' | 'startedAt' | 'durationMs' | 'responseStatus'> {
  /** Null if a complete response was received. */
  error: ShownAttemptError | null;
  /** What the owner of the receiver can do. Null if the attempt succeeded. */
  advice: string | null;
}

export function toWebhookAttempt(row: AttemptRow): WebhookAttempt {
  const { number, startedAt, durationMs, responseStatus, detail, isThirdTimeout } = row;
  const error = row.error === null ? null : toShownAttemptError(row.error);
  // The longest timeout does not end earlier.
  const needsLonger = isThirdTimeout && durationMs < timeoutMaxSeconds * 1_000;
  const advice = adviceFor({ responseStatus, error, detail, needsLonger });
  return { number, startedAt, durationMs, responseStatus, error, advice };
}

/** An attempt of a list. What else is known about it can be read. */
export interface ListedAttempt extends WebhookAttempt {
  key: AttemptKey;
}

function toListedAttempt(row: AttemptRow): ListedAttempt {
  const { deliveryId, number, startedAt } = row;
  return { ...toWebhookAttempt(row), key: { deliveryId, number, startedAt } };
}

const attemptsShown = 20;

/**
 * The latest 20 attempts of each delivery, newest first.
 *
 * @param deliveries results of another use case, which has checked that the caller may see them
 * @returns one list per delivery, in the order of `deliveries`
 */
export async function listLatestAttempts(
  context: ActionContext,
  deliveries: readonly WebhookDelivery[],
): Promise<WebhookAttempt[][]> {
  const lists = await selectAttempts(context.store, latestPages(context, deliveries, attemptsShown));
  return lists.map((rows) => rows.map(toWebhookAttempt));
}

/** An attempt as it is followed. */
export interface FollowedAttempt extends WebhookAttempt {
  deliveryId: string;
  subscriptionId: string;
  /** Null if the delivery was deleted meanwhile. */
  eventType: string | null;
}

/** Returns the attempts that were recorded since the last call, the earliest first. The first call returns those of the last 10 seconds. */
export type PollAttempts = () => Promise<FollowedAttempt[]>;

/**
 * Follows the attempts of an account or of a subscription. A call costs a bounded number of statements, whatever the number of
 * deliveries: of an account with more than 50 new deliveries per second, some attempts are missing.
 *
 * @throws {RefusedError} `NOT_FOUND` if the account or the subscription does not exist
 */
export async function followWebhookAttempts(
  context: ActionContext,
  input: { accountId: string } | { subscriptionId: string },
): Promise<PollAttempts> {
  const { gidNamespace, store } = context;
  const follower = new AttemptFollower(store, await followedBy(context, input));
  return async () =>
    (await follower.poll()).map((row) => ({
      deliveryId: formatGid(gidNamespace, 'WebhookDelivery', row.deliveryId),
      subscriptionId: formatGid(gidNamespace, 'WebhookSubscription', row.subscriptionId),
      eventType: row.eventType,
      ...toWebhookAttempt(row),
    }));
}

async function followedBy(
  context: ActionContext,
  input: { accountId: string } | { subscriptionId: string },
): Promise<Followed> {
  if ('accountId' in input) {
    return { accountId: (await findAccount(context, null, input.accountId)).id, subscriptionId: null };
  }
  const { accountId } = await requireSubscription(context, input.subscriptionId);
  return { accountId, subscriptionId: parseGid(context.gidNamespace, 'WebhookSubscription', input.subscriptionId) };
}

function latestPages(context: ActionContext, deliveries: readonly WebhookDelivery[], limit: number): AttemptsPage[] {
  return deliveries.map((delivery) => ({
    deliveryId: idOf(context, 'WebhookDelivery', delivery.id),
    before: null,
    limit,
  }));
}

/** The newest attempts of a delivery. */
export interface AttemptsRequest {
  /** A result of another use case, which has checked that the caller may see it. */
  delivery: WebhookDelivery;
  /** 1 to 20. Null or undefined defaults to 20. */
  first?: number | null | undefined;
  /** Only attempts with a smaller number. */
  before?: number | null | undefined;
}

/**
 * The newest attempts of deliveries, newest first, read together.
 *
 * @returns one list for each request, in the same order. An error for a request in which `first` or `before` is invalid.
 */
export async function listWebhookAttempts(
  context: ActionContext,
  requests: readonly AttemptsRequest[],
): Promise<(ListedAttempt[] | InvalidArgumentError)[]> {
  return readTogether(
    requests,
    (request) => toAttemptsPage(context, request),
    (pages) => selectAttempts(context.store, pages),
    (rows) => rows.map(toListedAttempt),
  );
}

function toAttemptsPage(context: ActionContext, request: AttemptsRequest): AttemptsPage | InvalidArgumentError {
  const limit = request.first ?? attemptsShown;
  const before = request.before ?? null;
  if (limit < 1 || limit > attemptsShown)
    return new InvalidArgumentError(`\`first\` of attempts must be 1 to ${attemptsShown}; it is ${limit}.`);
  if (before !== null && before < 1)
    return new InvalidArgumentError(`\`before\` must be the number of an attempt, 1 or more; it is ${before}.`);
  return { deliveryId: idOf(context, 'WebhookDelivery', request.delivery.id), before, limit };
}

/** The id of a record in a result. */
export function idOf<Type extends GidTypeName>(
  { gidNamespace }: ActionContext,
  type: Type,
  gid: string,
): RecordId<Type> {
  const id = parseGid(gidNamespace, type, gid);
  if (id === null) throw new Error(`${gid} is not the ${type} of a result.`);
  return id;
}

/**
 * The number of attempts of each delivery so far, which is the number of the latest one.
 *
 * @param deliveries results of another use case, which has checked that the caller may see them
 */
export async function countWebhookAttempts(
  context: ActionContext,
  deliveries: readonly WebhookDelivery[],
): Promise<number[]> {
  const attempts = await selectAttempts(context.store, latestPages(context, deliveries, 1));
  return attempts.map(([latest]) => latest?.number ?? 0);
}

/** `WebhookLastFailure`. */
export interface LastFailure extends Pick<WebhookAttempt, 'responseStatus' | 'error'> {
  advice: string;
  /** The global identifier of the delivery. */
  deliveryId: string;
}

/**
 * The latest attempt of each delivery. Null if it succeeded, or is deleted.
 *
 * @param ids of results of another use case, which has checked that the caller may see them
 */
export async function readLastFailures(
  { gidNamespace, store }: ActionContext,
  ids: readonly RecordId<'WebhookDelivery'>[],
): Promise<(LastFailure | null)[]> {
  const attempts = await selectAttempts(
    store,
    ids.map((deliveryId) => ({ deliveryId, before: null, limit: 1 })),
  );
  return attempts.map(([latest]) => {
    if (latest === undefined) return null;
    const { responseStatus, error, advice } = toWebhookAttempt(latest);
    const deliveryId = formatGid(gidNamespace, 'WebhookDelivery', latest.deliveryId);
    return advice === null ? null : { responseStatus, error, advice, deliveryId };
  });
}

/**
 * The body of each delivery, as every attempt sends it. Null if it could not be rendered, or is deleted.
 *
 * @param deliveries results of another use case, which has checked that the caller may see them
 */
export async function readWebhookPayloads(
  context: ActionContext,
  deliveries: readonly WebhookDelivery[],
): Promise<(string | null)[]> {
  const keys = deliveries.map(({ event }) => ({
    eventId: idOf(context, 'WebhookEvent', event.id),
    eventVersion: event.version,
  }));
  return selectShownPayloads(context.store, keys);
}

export interface WebhookHeader {
  name: string;
  value: string;
}

/** What an attempt sent and received: `WebhookExchange`, without the response body. */
export interface WebhookExchange extends Omit<ExchangeRow, 'replayId' | 'requestHeaders' | 'responseHeaders'> {
  key: AttemptKey;
  requestHeaders: WebhookHeader[];
  responseHeaders: WebhookHeader[];
  /** The global identifier of the replay that queued the delivery for this attempt. Null if none did. */
  replayId: string | null;
}

/**
 * What each attempt sent and received. Null if that was not kept.
 *
 * @param attempts results of another use case, which has checked that the caller may see them
 */
export async function readWebhookExchanges(
  context: ActionContext,
  attempts: readonly ListedAttempt[],
): Promise<(WebhookExchange | null)[]> {
  const keys = attempts.map(({ key }) => key);
  const rows = await selectExchanges(context.store, keys);
  return keys.map((key, index) => {
    const row = rows[index] ?? null;
    if (row === null) return null;
    return {
      ...row,
      key,
      requestHeaders: toHeaders(row.requestHeaders),
      responseHeaders: toHeaders(row.responseHeaders),
      replayId: row.replayId && formatGid(context.gidNamespace, 'WebhookReplay', row.replayId),
    };
  });
}

function toHeaders(namesAndValues: readonly string[]): WebhookHeader[] {
  const headers: WebhookHeader[] = [];
  for (let index = 0; index < namesAndValues.length; index += 2)
    headers.push({ name: namesAndValues[index] ?? '', value: namesAndValues[index + 1] ?? '' });
  return headers;
}

/**
 * The beginning of the response body of each exchange.
 *
 * @param exchanges results of `readWebhookExchanges`
 */
export async function readResponseBodies(
  context: ActionContext,
  exchanges: readonly WebhookExchange[],
): Promise<ShownBody[]> {
  const bodies = await selectResponseBodies(
    context.store,
    exchanges.map(({ key }) => key),
  );
  return exchanges.map(({ responseBytes }, index) => {
    const body = bodies[index] ?? null;
    return toShownBody(body, body !== null && responseBytes > body.length);
  });
}

/**
 * Why each delivery is not sent yet, or not sent again yet. Null if it is finished.
 *
 * @param deliveries results of another use case, which has checked that the caller may see them
 */
export async function readWebhookDelays(
  context: ActionContext,
  deliveries: readonly WebhookDelivery[],
): Promise<(Delay | null)[]> {
  const pending = deliveries.filter(({ status }) => status === 'PENDING');
  const keys = pending.map(({ id, subscriptionId }) => ({
    id: idOf(context, 'WebhookDelivery', id),
    subscriptionId: idOf(context, 'WebhookSubscription', subscriptionId),
  }));
  const delays = await selectDelays(context.store, keys);
  const delayOf = new Map(pending.map((delivery, index) => [delivery, delays[index] ?? null]));
  return deliveries.map((delivery) => delayOf.get(delivery) ?? null);
}

/**
 * A delivery of any account, why it waits, and its latest 20 attempts, newest first.
 *
 * @throws {RefusedError} `NOT_FOUND` if the delivery does not exist
 */
export async function explainWebhookDelivery(
  context: ActionContext,
  input: { deliveryId: string },
): Promise<WebhookDelivery & { delay: Delay | null; attempts: WebhookAttempt[] }> {
  const delivery = await requireDelivery(context, input.deliveryId);
  const [attempts = []] = await listLatestAttempts(context, [delivery]);
  const [delay = null] = await readWebhookDelays(context, [delivery]);
  return { ...delivery, delay, attempts };
}
