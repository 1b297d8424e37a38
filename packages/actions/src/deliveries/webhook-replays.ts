import { eventOf, formatGid, type InterfaceName, parseGid, type RecordId, type Service } from '@deedwire/core';
import { appendSubscriptionChange } from '@deedwire/webhooks/outbox';
import { z } from 'zod';
import { appendAuditEntry } from '../kernel/audit.ts';
import { type ActionContext, type Caller, isCaller, type Operator } from '../kernel/context.ts';
import {
  inputError,
  type MutationResult,
  RefusedError,
  type UserError,
  type IdempotencyErrorCode,
} from '../kernel/errors.ts';
import { resultOf, type SaveResult, timeCodec, withIdempotencyKey } from '../kernel/idempotency.ts';
import { orderOfIds, type Page, type PageRequest, readPageRequest, toPage } from '../kernel/page.ts';
import { ownerFor, requireSubscription } from '../subscriptions/subscription-ref.ts';
import { describeUnknownType } from '../subscriptions/webhook-event-types.ts';
import {
  cancelReplay,
  type CountedDeliveries,
  countReplayed,
  insertReplay,
  type ReplayCount,
  type ReplayRange,
  type ReplayRow,
  selectReplay,
  selectReplayIds,
  selectReplays,
  selectReplaysOfSubscription,
  selectRunningReplay,
} from '../webhooks/replay/replays.ts';
import {
  lockSubscription,
  selectSubscription,
  selectSubscriptionOwner,
  type SubscriptionOwner,
} from '../webhooks/subscriptions/subscriptions.ts';

/** `WebhookReplay`. */
export interface WebhookReplay extends Omit<
  ReplayRow,
  'id' | 'subscriptionId' | 'queued' | 'skipped' | 'skippedPending'
> {
  id: string;
  /** The global identifier of the subscription. */
  subscriptionId: string;
  queuedCount: number;
  skippedCount: number;
  skippedPendingCount: number | null;
}

/** `WebhookReplayEstimate`. */
export interface WebhookReplayEstimate {
  count: number;
  isLowerBound: boolean;
  byType: ReplayCount[];
  /** How long queueing takes at the rate of the request. */
  seconds: number;
}

/** How a saved result keeps a replay. Results of earlier builds must stay readable for 24 hours: only add optional fields. */
const savedReplay = z.object({
  id: z.string(),
  subscriptionId: z.string(),
  status: z.enum(['RUNNING', 'COMPLETED', 'CANCELLED', 'SUBSCRIPTION_DELETED']),
  createdAt: timeCodec,
  endedAt: timeCodec.nullable(),
  queuedCount: z.int(),
  skippedCount: z.int(),
  skippedPendingCount: z.int().nullable().default(null),
  position: z.number(),
  waitsFor: z.enum(['PAUSED', 'BREAKER_OPEN', 'RETRY_AFTER', 'NO_WORKER', 'LIVE_TRAFFIC']).nullable(),
}) satisfies z.ZodType<WebhookReplay>;

function toWebhookReplay({ gidNamespace }: ActionContext, row: ReplayRow): WebhookReplay {
  const { queued: queuedCount, skipped: skippedCount, skippedPending: skippedPendingCount, ...rest } = row;
  const id = formatGid(gidNamespace, 'WebhookReplay', row.id);
  const subscriptionId = formatGid(gidNamespace, 'WebhookSubscription', row.subscriptionId);
  return { ...rest, id, subscriptionId, queuedCount, skippedCount, skippedPendingCount };
}

/** A replay of the caller. Null if the caller has no replay with this identifier. */
export async function findWebhookReplay(
  context: ActionContext,
  caller: Caller,
  gid: string,
): Promise<WebhookReplay | null> {
  const id = parseGid(context.gidNamespace, 'WebhookReplay', gid);
  const row = id === null ? null : await selectReplay(context.store, caller.accountId, id);
  return row === null ? null : toWebhookReplay(context, row);
}

/**
 * The caller's replays, newest first. Empty if `subscriptionId` is not a subscription of the caller. With it, a page reads at most
 * 1,000 replays, so it can be short.
 */
export async function listWebhookReplays(
  context: ActionContext,
  caller: Caller,
  request: PageRequest & { subscriptionId?: string | null | undefined },
): Promise<Page<WebhookReplay>> {
  const order = orderOfIds<'WebhookReplay'>('webhookReplays');
  const toNode = (row: ReplayRow): WebhookReplay => toWebhookReplay(context, row);
  const { after, limit } = readPageRequest(order, request);
  const page = { afterId: after, limit };
  const gid = request.subscriptionId ?? null;
  if (gid === null) return toPage(order, request, await selectReplays(context.store, caller.accountId, page), toNode);
  const subscriptionId = parseGid(context.gidNamespace, 'WebhookSubscription', gid);
  if (subscriptionId === null) return toPage(order, request, [], toNode);
  const found = await selectReplaysOfSubscription(context.store, caller.accountId, subscriptionId, page);
  return toPage(order, request, found.rows, toNode, found.readTo === null ? null : { id: found.readTo });
}

export type ReplayWebhookEventsErrorCode = IdempotencyErrorCode | InputErrorCode | 'REPLAY_IN_PROGRESS';

type InputErrorCode = 'EVENT_TYPE_UNKNOWN' | 'NOT_FOUND' | 'RANGE_INVALID';

/** `ReplayWebhookEventsInput`. A field that is null or undefined is not set. */
export interface ReplayWebhookEventsInput {
  subscriptionId: string;
  since?: Date | null | undefined;
  until?: Date | null | undefined;
  fromSequence?: number | null | undefined;
  toSequence?: number | null | undefined;
  eventTypes?: readonly string[] | null | undefined;
  onlyFailed?: boolean | null | undefined;
  maxPerSecond?: number | null | undefined;
  dryRun?: boolean | null | undefined;
  idempotencyKey?: string | null | undefined;
}

/** A replay, or an estimate of one, or user errors. */
export type ReplayWebhookEventsResult = MutationResult<
  { webhookReplay: WebhookReplay; estimate: WebhookReplayEstimate },
  ReplayWebhookEventsErrorCode
>;

const defaultPerSecond = 50;
const perSecondMax = 500;
/** How many deliveries a dry run reads. If there is another one, it has counted too few. */
const searchedMax = 100_000;

/**
 * Sends deliveries of a subscription again, or counts them.
 *
 * @param onSearched called with the number of deliveries that were read to count them
 * @throws {RefusedError} `NOT_FOUND` if an operator names no subscription
 */
export async function replayWebhookEvents(
  context: ActionContext,
  by: Caller | Operator,
  { idempotencyKey, ...input }: ReplayWebhookEventsInput,
  onSearched?: (deliveries: number) => void,
): Promise<ReplayWebhookEventsResult> {
  const owner = await ownerFor(context, by, input.subscriptionId);
  const request = {
    mutation: 'replayWebhookEvents',
    key: idempotencyKey,
    input: withoutNulls(input),
    codec: savedReplay,
  };
  const replayed = await withIdempotencyKey(context, by, request, (saveResult) =>
    replay(context, owner, by, { input, saveResult, onSearched }),
  );
  return resultOf(replayed, {
    repeat: (saved) => ({ webhookReplay: saved.payload, estimate: null, userErrors: [] }),
    reject,
    async findInputErrors() {
      const found = await findSubscription(context, owner, input.subscriptionId);
      return found === null ? [notFound] : checkInput(context.service, owner.interfaceName, input);
    },
  });
}

/**
 * A replay of any account, for an operator.
 *
 * @throws {RefusedError} `NOT_FOUND` if it does not exist
 */
export async function readWebhookReplay(
  context: ActionContext,
  { replayId }: { replayId: string },
): Promise<WebhookReplay> {
  const id = parseGid(context.gidNamespace, 'WebhookReplay', replayId);
  const row = id === null ? null : await selectReplay(context.store, null, id);
  if (row === null) throw new RefusedError('NOT_FOUND', `The replay ${replayId} does not exist.`);
  return toWebhookReplay(context, row);
}

/** The defaults of the schema, which null selects as well. */
const defaults = new Map<string, unknown>([
  ['onlyFailed', true],
  ['maxPerSecond', defaultPerSecond],
  ['dryRun', false],
]);

/** A field that is null is the same input as one that is not set, whose default the schema sets. */
function withoutNulls(input: ReplayRequest['input']): object {
  const stated = Object.entries(input).map(([name, value]) => [name, value === null ? defaults.get(name) : value]);
  return Object.fromEntries(stated);
}

interface ReplayRequest {
  input: Omit<ReplayWebhookEventsInput, 'idempotencyKey'>;
  saveResult: SaveResult<WebhookReplay>;
  onSearched?: ((deliveries: number) => void) | undefined;
}

async function replay(
  context: ActionContext,
  owner: SubscriptionOwner,
  by: Caller | Operator,
  { input, saveResult, onSearched }: ReplayRequest,
): Promise<ReplayWebhookEventsResult> {
  const { accountId, interfaceName } = owner;
  const subscriptionId = await findSubscription(context, owner, input.subscriptionId);
  if (subscriptionId === null) return reject([notFound]);
  const userErrors = checkInput(context.service, interfaceName, input);
  if (userErrors.length > 0) return reject(userErrors);
  const range = toRange(input);
  const perSecond = input.maxPerSecond ?? defaultPerSecond;
  const isDryRun = input.dryRun === true;
  const ids = await selectReplayIds(context.store, subscriptionId, range, isDryRun);
  if (BigInt(ids.fromId) >= BigInt(ids.untilId)) return reject([nothingKept(input)]);
  if (isDryRun) {
    const counted = await countReplayed(context.store, subscriptionId, range, ids, searchedMax + 1);
    onSearched?.(counted.searched);
    return { webhookReplay: null, estimate: toEstimate(counted, perSecond), userErrors: [] };
  }
  return context.store.transaction(async (transaction) => {
    if ((await lockSubscription(transaction, accountId, subscriptionId)) === null) return reject([notFound]);
    const id = await insertReplay(transaction, { accountId, interfaceName, subscriptionId, range, ids, perSecond });
    if (id === null) return reject([inProgress(context, await selectRunningReplay(transaction, subscriptionId))]);
    const row = await selectReplay(transaction, accountId, id);
    if (row === null) throw new Error(`The replay ${id} does not exist after its insertion.`);
    const webhookReplay = toWebhookReplay(context, row);
    await appendAuditEntry(transaction, by, {
      action: 'webhook_subscription.replay',
      subject: webhookReplay.subscriptionId,
      account: { id: accountId, interfaceName },
      details: { replay: webhookReplay.id, ...range, maxPerSecond: perSecond },
    });
    await appendSubscriptionChange(transaction, { accountId, interfaceName, subscriptionId });
    await saveResult(transaction, { payload: webhookReplay, secretCiphertext: null, recordId: null });
    return { webhookReplay, estimate: null, userErrors: [] };
  });
}

async function findSubscription(
  { gidNamespace, store }: ActionContext,
  { accountId }: SubscriptionOwner,
  gid: string,
): Promise<RecordId<'WebhookSubscription'> | null> {
  const id = parseGid(gidNamespace, 'WebhookSubscription', gid);
  const row = id === null ? null : await selectSubscription(store, accountId, id);
  return row === null ? null : row.id;
}

function checkInput(
  service: Service,
  interfaceName: InterfaceName,
  { since, until, fromSequence, toSequence, eventTypes, onlyFailed, maxPerSecond }: ReplayRequest['input'],
): UserError<InputErrorCode>[] {
  const userErrors: UserError<InputErrorCode>[] = [];
  const add = (field: string, message: string): void =>
    void userErrors.push(inputError('RANGE_INVALID', field, message));
  const hasTimes = (since ?? until ?? null) !== null;
  const hasSequences = (fromSequence ?? toSequence ?? null) !== null;
  if (hasTimes && hasSequences) add('fromSequence', 'Pass times or sequences, not both.');
  if (since && until && since >= until) {
    add('until', `\`until\` must be later than \`since\`; it is ${until.toISOString()}.`);
  }
  if (typeof fromSequence === 'number' && fromSequence < 1) {
    add(
      'fromSequence',
      `The first delivery of a subscription has the sequence 1; \`fromSequence\` is ${fromSequence}.`,
    );
  }
  if (typeof toSequence === 'number' && toSequence < (fromSequence ?? 1)) {
    add('toSequence', `\`toSequence\` must be at least ${fromSequence ?? 1}; it is ${toSequence}.`);
  }
  if (onlyFailed === false && !since && typeof fromSequence !== 'number') {
    add('since', 'To send deliveries that did not fail, pass `since` or `fromSequence`.');
  }
  const perSecond = maxPerSecond ?? defaultPerSecond;
  if (perSecond < 1 || perSecond > perSecondMax) {
    add('maxPerSecond', `\`maxPerSecond\` must be 1 to ${perSecondMax}; it is ${perSecond}.`);
  }
  if (eventTypes?.length === 0) add('eventTypes', 'Name at least one event type, or omit `eventTypes` for all.');
  for (const [index, type] of (eventTypes ?? []).entries()) {
    if (eventOf(service, type)?.interfaces.includes(interfaceName) === true) continue;
    const message = describeUnknownType(service, interfaceName, type);
    userErrors.push({ code: 'EVENT_TYPE_UNKNOWN', message, field: ['input', 'eventTypes', String(index)] });
    // Enough to find the mistake.
    break;
  }
  return userErrors;
}

function toRange(input: ReplayRequest['input']): ReplayRange {
  const { since = null, until = null, fromSequence = null, toSequence = null, eventTypes = null } = input;
  return {
    onlyFailed: input.onlyFailed ?? true,
    eventTypes: eventTypes && [...new Set(eventTypes)],
    since,
    until,
    fromSequence,
    untilSequence: toSequence === null ? null : toSequence + 1,
  };
}

function toEstimate({ counts, searched }: CountedDeliveries, perSecond: number): WebhookReplayEstimate {
  const counted = counts.reduce((sum, { count }) => sum + count, 0);
  const count = Math.min(counted, searchedMax);
  const byType = counts.map((each) => ({ ...each }));
  return { count, isLowerBound: searched > searchedMax, byType, seconds: Math.ceil(count / perSecond) };
}

export type CancelWebhookReplayResult = MutationResult<{ webhookReplay: WebhookReplay }, 'NOT_FOUND'>;

/**
 * Stops a replay. What is queued is sent. Changes nothing if it has ended.
 *
 * @throws {RefusedError} `NOT_FOUND` if an operator names no replay
 */
export async function cancelWebhookReplay(
  context: ActionContext,
  by: Caller | Operator,
  input: { id: string },
): Promise<CancelWebhookReplayResult> {
  const id = parseGid(context.gidNamespace, 'WebhookReplay', input.id);
  const rejected = { webhookReplay: null, userErrors: [replayNotFound] };
  const { accountId } = isCaller(by)
    ? by
    : await requireSubscription(context, (await readWebhookReplay(context, { replayId: input.id })).subscriptionId);
  if (id === null) return rejected;
  return context.store.transaction(async (transaction) => {
    const isCancelled = await cancelReplay(transaction, accountId, id);
    const row = await selectReplay(transaction, accountId, id);
    if (row === null) return rejected;
    const webhookReplay = toWebhookReplay(context, row);
    if (isCancelled) {
      const owner = await selectSubscriptionOwner(transaction, row.subscriptionId);
      await appendAuditEntry(transaction, by, {
        action: 'webhook_subscription.cancel-replay',
        subject: webhookReplay.subscriptionId,
        account: owner && { id: owner.accountId, interfaceName: owner.interfaceName },
        details: { replay: webhookReplay.id },
      });
    }
    return { webhookReplay, userErrors: [] };
  });
}

const notFound = inputError('NOT_FOUND', 'subscriptionId', 'You have no subscription with this identifier.');
const replayNotFound = inputError('NOT_FOUND', 'id', 'You have no replay with this identifier.');

/** @param id null if it has just ended */
function inProgress({ gidNamespace }: ActionContext, id: ReplayRow['id'] | null): UserError<'REPLAY_IN_PROGRESS'> {
  const named = id === null ? '' : `: ${formatGid(gidNamespace, 'WebhookReplay', id)}`;
  const message = `A replay of this subscription is in progress${named}. Wait until it has ended, or cancel it.`;
  return inputError('REPLAY_IN_PROGRESS', 'subscriptionId', message);
}

function nothingKept({ since }: ReplayRequest['input']): UserError<'RANGE_INVALID'> {
  const isFuture = since !== null && since !== undefined;
  const message = 'No delivery of this range is kept: it begins in the future, or ends before the retention period.';
  return inputError('RANGE_INVALID', isFuture ? 'since' : 'until', message);
}

function reject(userErrors: UserError<ReplayWebhookEventsErrorCode>[]): ReplayWebhookEventsResult {
  return { webhookReplay: null, estimate: null, userErrors };
}
