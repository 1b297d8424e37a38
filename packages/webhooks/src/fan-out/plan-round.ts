import type { OnFanOutEvent } from '../events.ts';
import type { AccountId } from '../kernel/ids.ts';
import type { AccountPins, SubscriptionPins } from '../subscriptions/read-pins.ts';
import type { FanOutLimits } from './limits.ts';
import { isGivenUp, type QueuedAccount, type QueueEntry } from './queued-account.ts';
import type { Renderer, StoredEvent } from './renderer.ts';
import type {
  BlockedEntry,
  PickedEntry,
  PlannedDelivery,
  PlannedPayload,
  PlannedSubscription,
  DeferredEntry,
  RoundPlan,
} from './round-plan.ts';
import type { ReadEvents } from './sql/events.ts';

export interface PlanRoundOptions {
  readonly pins: ReadonlyMap<AccountId, AccountPins>;
  readonly events: ReadEvents;
  readonly renderer: Renderer;
  readonly limits: Pick<FanOutLimits, 'roundBytes'> & { readonly deliveries: number };
  readonly onEvent: OnFanOutEvent;
}

/** Decides for each entry, in the order of `picked`, which deliveries it creates. Renders each event once per version. */
export function planRound(picked: readonly PickedEntry[], options: PlanRoundOptions): RoundPlan {
  const planner = new RoundPlanner(options);
  for (const pick of picked) planner.add(pick);
  return planner.plan;
}

class RoundPlanner {
  readonly #options: PlanRoundOptions;
  readonly plan = {
    done: [] as PickedEntry[],
    subscriptions: [] as PlannedSubscription[],
    deliveries: [] as PlannedDelivery[],
    payloads: [] as PlannedPayload[],
    deferred: [] as DeferredEntry[],
    blocked: [] as BlockedEntry[],
    leftOver: [] as PickedEntry[],
  } satisfies RoundPlan;
  readonly #planned = new Map<SubscriptionPins, PlannedSubscription>();
  /** The payloads of each event, by version. Null if it cannot be rendered. */
  readonly #rendered = new Map<StoredEvent, Map<string, PlannedPayload | null>>();
  /** Accounts with an entry in `leftOver`, which later entries must not overtake. */
  readonly #stopped = new Set<QueuedAccount>();
  #bytes = 0;

  constructor(options: PlanRoundOptions) {
    this.#options = options;
  }

  add(pick: PickedEntry): void {
    const { account, entry } = pick;
    const { events, pins } = this.#options;
    const accountPins = pins.get(account.id);
    const isLeftOut = events.leftOut.size > 0 && entry.eventId !== null && events.leftOut.has(entry.eventId);
    if (this.#stopped.has(account) || isLeftOut || this.#isFull) {
      this.#stopped.add(account);
      this.plan.leftOver.push(pick);
    } else if (entry.eventId === null || accountPins === undefined) {
      this.plan.done.push(pick);
    } else {
      const event = events.events.get(entry.eventId);
      if (event !== undefined && event.accountId === account.id) this.#addEvent(pick, event, accountPins);
      else {
        const missing = { event: entry.eventId, account: account.id };
        this.#options.onEvent({ kind: 'event-missing', alarm: true, ...missing });
        this.plan.done.push(pick);
      }
    }
  }

  get #isFull(): boolean {
    const { deliveries, roundBytes } = this.#options.limits;
    return this.plan.deliveries.length >= deliveries || this.#bytes >= roundBytes;
  }

  #addEvent(pick: PickedEntry, event: StoredEvent, pins: AccountPins): void {
    const { entry } = pick;
    const { renderer, onEvent } = this.#options;
    const isKnownType = renderer.knowsType(event.type);
    const givesUp = isGivenUp(entry);
    let isGivenUpFor = false;
    for (const subscription of pins.subscriptions) {
      if (!isFor(entry, subscription) || subscription.id === event.aboutSubscriptionId) continue;
      const version = subscription.versions.get(event.type);
      if (version === undefined) continue;
      if (!isKnownType || !renderer.knows(event.type, version)) {
        if (subscription.pausedReason === 'VERSION_RETIRED') continue;
        if (!isKnownType || entry.subscriptionId !== null) {
          this.plan.blocked.push({ ...pick, blockedOn: event.type });
          return;
        }
        const { accountId, interfaceName, id: eventId, type: eventType } = event;
        this.plan.deferred.push({ accountId, interfaceName, eventId, subscriptionId: subscription.id, eventType });
        continue;
      }
      if (givesUp) isGivenUpFor = true;
      const payload = givesUp ? null : this.#payload(event, version);
      const planned = this.#subscription(subscription, pins);
      planned.count += 1;
      const isTargeted = entry.subscriptionId !== null;
      this.plan.deliveries.push({ subscription: planned, ordinal: planned.count, event, version, payload, isTargeted });
    }
    if (isGivenUpFor) onEvent({ kind: 'entry-given-up', alarm: true, event: event.id, claims: entry.claims });
    this.plan.done.push(pick);
  }

  #subscription(pins: SubscriptionPins, { accountId, interfaceName }: AccountPins): PlannedSubscription {
    const { id, pausedReason, isListener } = pins;
    const found = this.#planned.get(pins);
    if (found !== undefined) return found;
    const index = this.plan.subscriptions.length;
    const planned = { index, id, accountId, interfaceName, isPaused: pausedReason !== null, isListener, count: 0 };
    this.#planned.set(pins, planned);
    this.plan.subscriptions.push(planned);
    return planned;
  }

  #payload(event: StoredEvent, version: string): PlannedPayload | null {
    let versions = this.#rendered.get(event);
    if (versions === undefined) {
      versions = new Map();
      this.#rendered.set(event, versions);
    }
    const found = versions.get(version);
    if (found !== undefined) return found;
    const payload = this.#render(event, version);
    versions.set(version, payload);
    return payload;
  }

  /**
   * Fails the deliveries if the renderer throws: retrying cannot help, and subscriptions that pin other versions must not
   * wait.
   */
  #render(event: StoredEvent, version: string): PlannedPayload | null {
    const { renderer, onEvent } = this.#options;
    try {
      const payload = { event, version, body: renderer.render(event, version) };
      this.plan.payloads.push(payload);
      this.#bytes += payload.body.length;
      return payload;
    } catch (error) {
      onEvent({ kind: 'rendering-failed', alarm: true, event: event.id, eventType: event.type, version, error });
      return null;
    }
  }
}

/** A new subscription receives only events that were queued after it was created, unless the entry names it. */
function isFor(entry: QueueEntry, subscription: SubscriptionPins): boolean {
  return entry.subscriptionId === null
    ? entry.position > subscription.queuePosition
    : entry.subscriptionId === subscription.id;
}
