import {
  type AttemptsRequest,
  type Caller,
  countWebhookAttempts,
  findWebhookSubscriptions,
  type LenderContext,
  listDeliveriesOfSubscriptions,
  type ListedAttempt,
  listWebhookAttempts,
  readResponseBodies,
  readWebhookDelays,
  readWebhookExchanges,
  readWebhookPayloads,
  type Page,
  type PullContext,
  type ShownBody,
  type SubscriptionDeliveriesRequest,
  toCaller,
  type WebhookActionContext,
  type WebhookDelivery,
  type WebhookExchange,
  type WebhookSubscription,
  type Delay,
} from '@deedwire/actions';
import type { AuthenticatedClient } from '@deedwire/auth';
import DataLoader from 'dataloader';
import { toMilliPoints } from '../cost/operation-costs.ts';
import { OperationPauses } from '../operation/operation-pauses.ts';
import type { ExtraWork } from '../operation/work-context.ts';

/** The dependencies of the use cases of either interface. */
export type InterfaceActionContext = WebhookActionContext & LenderContext & PullContext;

/** The context of resolvers. Each operation has its own. */
export interface OperationContext {
  caller: Caller;
  actions: InterfaceActionContext;
  loaders: Loaders;
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

type AttemptsLoader = DataLoader<AttemptsRequest, ListedAttempt[], string>;
type AttemptCountsLoader = DataLoader<WebhookDelivery, number, string>;
type ExchangesLoader = DataLoader<ListedAttempt, WebhookExchange | null, string>;
type BodiesLoader = DataLoader<WebhookExchange, ShownBody, string>;
type DelaysLoader = DataLoader<WebhookDelivery, Delay | null, string>;
type PayloadsLoader = DataLoader<WebhookDelivery, string | null, string>;
type SubscriptionsLoader = DataLoader<string, WebhookSubscription | null>;
type DeliveriesLoader = DataLoader<SubscriptionDeliveriesRequest, Page<WebhookDelivery>, string>;

/** Each reads what all objects of a list need together. Most operations need none, so they are created when they are read. */
export class Loaders {
  readonly #actions: InterfaceActionContext;
  readonly #caller: Caller;
  readonly #extraWork: ExtraWork;
  #webhookAttempts: AttemptsLoader | undefined;
  #webhookAttemptCounts: AttemptCountsLoader | undefined;
  #webhookExchanges: ExchangesLoader | undefined;
  #responseBodies: BodiesLoader | undefined;
  #webhookDelays: DelaysLoader | undefined;
  #webhookPayloads: PayloadsLoader | undefined;
  #webhookSubscriptions: SubscriptionsLoader | undefined;
  #deliveriesOfSubscriptions: DeliveriesLoader | undefined;

  constructor(actions: InterfaceActionContext, caller: Caller, extraWork: ExtraWork) {
    this.#actions = actions;
    this.#caller = caller;
    this.#extraWork = extraWork;
  }

  get webhookAttempts(): AttemptsLoader {
    return (this.#webhookAttempts ??= new DataLoader<AttemptsRequest, ListedAttempt[], string>(
      (requests) => listWebhookAttempts(this.#actions, requests),
      { cacheKeyFn: ({ delivery, first, before }) => JSON.stringify([delivery.id, first, before]) },
    ));
  }

  get webhookAttemptCounts(): AttemptCountsLoader {
    return (this.#webhookAttemptCounts ??= new DataLoader(
      (deliveries) => countWebhookAttempts(this.#actions, deliveries),
      { cacheKeyFn: ({ id }) => id },
    ));
  }

  get webhookExchanges(): ExchangesLoader {
    return (this.#webhookExchanges ??= new DataLoader<ListedAttempt, WebhookExchange | null, string>(
      (attempts) => readWebhookExchanges(this.#actions, attempts),
      {
        cacheKeyFn: nameOfAttempt,
      },
    ));
  }

  get responseBodies(): BodiesLoader {
    return (this.#responseBodies ??= new DataLoader<WebhookExchange, ShownBody, string>(
      (exchanges) => readResponseBodies(this.#actions, exchanges),
      {
        cacheKeyFn: nameOfAttempt,
      },
    ));
  }

  get webhookDelays(): DelaysLoader {
    return (this.#webhookDelays ??= new DataLoader((deliveries) => readWebhookDelays(this.#actions, deliveries), {
      cacheKeyFn: ({ id }) => id,
    }));
  }

  get webhookPayloads(): PayloadsLoader {
    return (this.#webhookPayloads ??= new DataLoader((deliveries) => readWebhookPayloads(this.#actions, deliveries), {
      cacheKeyFn: ({ id }) => id,
    }));
  }

  /** By the identifier of the subscription. */
  get webhookSubscriptions(): SubscriptionsLoader {
    return (this.#webhookSubscriptions ??= new DataLoader((ids) =>
      findWebhookSubscriptions(this.#actions, this.#caller, ids),
    ));
  }

  get deliveriesOfSubscriptions(): DeliveriesLoader {
    return (this.#deliveriesOfSubscriptions ??= new DataLoader<
      SubscriptionDeliveriesRequest,
      Page<WebhookDelivery>,
      string
    >(
      (requests) =>
        listDeliveriesOfSubscriptions(this.#actions, this.#caller, requests, () => chargeFurtherPart(this.#extraWork)),
      {
        cacheKeyFn: ({ subscriptionId, first, after, status }) =>
          JSON.stringify([subscriptionId, first, after, status]),
      },
    ));
  }
}

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
  requestId: string;
  address: string;
  whenClosed: WhenClosed;
}

export function createOperationContext(
  actions: InterfaceActionContext,
  { client, requestId, address, whenClosed }: OperationOrigin,
): OperationContext {
  const caller = toCaller(client, { requestId, address });
  const extraWork: ExtraWork = { cost: 0 };
  const pauses = new OperationPauses();
  const loaders = new Loaders(actions, caller, extraWork);
  return { caller, actions, extensions: {}, extraWork, pauses, whenClosed, loaders };
}
