import {
  type ActionContext,
  type AttemptsRequest,
  type Caller,
  countWebhookAttempts,
  findWebhookSubscriptions,
  type Health,
  type HourStatistics,
  listDeliveriesOfSubscriptions,
  type ListedAttempt,
  listWebhookAttempts,
  type PortalContext,
  type PortalSession,
  type PreviewContext,
  type PreviewRequest,
  previewWebhookPayloads,
  readLastFailures,
  readResponseBodies,
  readWebhookDelays,
  readWebhookExchanges,
  readWebhookHealth,
  readWebhookPayloads,
  readWebhookStatistics,
  type StatisticsRequest,
  type Page,
  portalCaller,
  type PullContext,
  type SubscriptionDeliveriesRequest,
  toCaller,
  type WebhookActionContext,
  type WebhookDelivery,
  type WebhookSubscription,
} from '@deedwire/actions';
import type { AuthenticatedClient } from '@deedwire/auth';
import type { Ability } from '@deedwire/core';
import { toMilliPoints } from '@deedwire/operation-analysis';
import DataLoader from 'dataloader';
import { type ExtraWork, OperationPauses } from '../operation/operation-pauses.ts';
import { resolverContext } from '../own/resolver-context.ts';
import type { ResolverContext } from '../own/version-types.ts';

/** The dependencies of the use cases that every interface has. */
export type InterfaceActionContext = WebhookActionContext &
  PullContext &
  PortalContext &
  PreviewContext & {
    /** Addresses and ranges from which webhooks come. Empty if the operator has not named them. */
    webhookEgressAddresses: readonly string[];
  };

/** What an interface adds to the dependencies of its use cases. */
export interface OwnContext<Own extends object> {
  /** Called once in a process. */
  create: (base: ActionContext) => Own;
  /** The dependencies that a resolver of the interface gets. */
  of: (actions: InterfaceActionContext) => InterfaceActionContext & Own;
}

export function ownContext<Own extends object>(create: (base: ActionContext) => Own): OwnContext<Own> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `startInterface` adds what `create` returns
  return { create, of: (actions) => actions as InterfaceActionContext & Own };
}

/** The context of resolvers. Each operation has its own. */
export interface OperationContext extends ResolverContext {
  caller: Caller;
  actions: InterfaceActionContext;
  /** Creates them when they are read first: most operations need none. */
  loaders: () => Loaders;
  extraWork: ExtraWork;
  pauses: OperationPauses;
  /** Calls the listener when the client can no longer receive the response, and returns a function that forgets it. */
  whenClosed: WhenClosed;
  /** Added to `extensions` of the response. */
  extensions: {
    /** Set if the mutation did not run, because it ran before with the same idempotency key. */
    idempotency?: { replayed: true };
  };
}

export type Loaders = ReturnType<typeof createLoaders>;

/** Each reads what all objects of a list need together. */
function createLoaders(actions: InterfaceActionContext, caller: Caller, extraWork: ExtraWork) {
  const loader = <Key, Value>(
    read: (context: InterfaceActionContext, keys: readonly Key[]) => Promise<(Value | Error)[]>,
    cacheKeyFn: (key: Key) => string,
  ) => new DataLoader<Key, Value, string>((keys) => read(actions, keys), { cacheKeyFn });

  return {
    webhookAttempts: loader<AttemptsRequest, ListedAttempt[]>(listWebhookAttempts, ({ delivery, first, before }) =>
      JSON.stringify([delivery.id, first, before]),
    ),
    webhookAttemptCounts: loader(countWebhookAttempts, ({ id }) => id),
    webhookExchanges: loader(readWebhookExchanges, nameOfAttempt),
    responseBodies: loader(readResponseBodies, nameOfAttempt),
    webhookDelays: loader(readWebhookDelays, ({ id }) => id),
    webhookPayloads: loader(readWebhookPayloads, ({ id }) => id),
    webhookPreviews: loader<PreviewRequest, string | null>(previewWebhookPayloads, ({ delivery, version }) =>
      JSON.stringify([delivery.id, version]),
    ),
    /** By the identifier of the subscription. */
    webhookSubscriptions: new DataLoader<string, WebhookSubscription | null>((ids) =>
      findWebhookSubscriptions(actions, caller, ids),
    ),
    /** By the identifier of the subscription. */
    webhookHealth: new DataLoader<string, Health>(async (ids) => {
      const healths = await readWebhookHealth(actions, caller, ids);
      for (const { pendingCount } of healths) extraWork.cost += pendingCount * costOfPendingDelivery;
      return healths;
    }),
    /** By the number of the delivery. */
    webhookLastFailures: loader(readLastFailures, (id) => id),
    webhookStatistics: loader<StatisticsRequest, HourStatistics[]>(
      (_, requests) => readWebhookStatistics(actions, caller, requests),
      ({ subscriptionId, hours }) => JSON.stringify([subscriptionId, hours]),
    ),
    deliveriesOfSubscriptions: loader<SubscriptionDeliveriesRequest, Page<WebhookDelivery>>(
      (_, requests) => listDeliveriesOfSubscriptions(actions, caller, requests, () => chargeFurtherPart(extraWork)),
      ({ subscriptionId, first, after, status }) => JSON.stringify([subscriptionId, first, after, status]),
    ),
  };
}

/** Counting 1,000 takes PostgreSQL about a millisecond. */
const costOfPendingDelivery = toMilliPoints(0.005);

/** A page of deliveries reads one part of the history after the other until it is full. The first one belongs to its price. */
const costOfFurtherPart = toMilliPoints(10);

export function chargeFurtherPart(extraWork: ExtraWork): void {
  extraWork.cost += costOfFurtherPart;
}

function nameOfAttempt({ key }: Pick<ListedAttempt, 'key'>): string {
  return `${key.deliveryId} ${key.number}`;
}

export type WhenClosed = (listener: () => void) => () => void;

/** What the context of resolvers needs of a request. */
export interface OperationOrigin {
  client: AuthenticatedClient;
  keyId?: string | undefined;
  /** Of the key or the session. */
  abilities?: readonly Ability[] | undefined;
  /** Undefined unless it is a request of the portal. */
  session?: PortalSession | undefined;
  requestId: string;
  address: string;
  whenClosed: WhenClosed;
}

export function createOperationContext(
  actions: InterfaceActionContext,
  { client, keyId, abilities, session, requestId, address, whenClosed }: OperationOrigin,
): OperationContext {
  const origin = { requestId, address, ...(abilities && { abilities }) };
  const caller = session
    ? portalCaller(session, origin)
    : toCaller(client, { ...origin, ...(keyId !== undefined && { keyId }) });
  const extraWork: ExtraWork = { cost: 0 };
  const pauses = new OperationPauses();
  let loaders: Loaders | undefined;
  return {
    ...resolverContext(actions, actions.store, caller),
    actions,
    extensions: {},
    extraWork,
    pauses,
    whenClosed,
    loaders: () => (loaders ??= createLoaders(actions, caller, extraWork)),
  };
}
