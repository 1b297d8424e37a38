import type { Service } from '@deedwire/core';
import type { Store } from '@deedwire/store';
import type { AttemptResult, DetailsPolicy } from '@deedwire/webhook-sender';
import { applySubscriptionChange } from './apply-subscription-change.ts';
import {
  advanceSequencesCommand,
  checkDatabaseOfApps,
  describeCheckOfApps,
  keepsWorkersFromStarting,
} from './check-database.ts';
import { type DispatcherStats, Dispatcher } from './dispatch/dispatcher.ts';
import type { BreakerCounts } from './dispatch/lane-registry.ts';
import type { SendableTarget } from './dispatch/lane-target.ts';
import { createDispatchStorage, type DispatchStorageOptions } from './dispatch/store-dispatch.ts';
import type { EngineEvent } from './events.ts';
import { ExchangeEraser } from './exchanges/exchange-eraser.ts';
import { Exchanges } from './exchanges/exchanges.ts';
import { FanOut } from './fan-out/fan-out.ts';
import type { Renderer } from './fan-out/renderer.ts';
import type { TraceFanOut } from './fan-out/trace-fan-out.ts';
import { FencedOutError } from './fence/fence.ts';
import type { Clock } from './kernel/clock.ts';
import type { SubscriptionId } from './kernel/ids.ts';
import type { PendingDelivery } from './kernel/pending-delivery.ts';
import { openShards } from './open-shards.ts';
import { type QueueState, readQueueState } from './queue-state.ts';
import { ReplayFeeder } from './replay/feeder.ts';
import { createReplayStorage } from './replay/store-replays.ts';
import { createRetention } from './retention/retention.ts';
import { HourStatistics } from './statistics/hour-statistics.ts';
import { BacklogRemover } from './subscriptions/backlog-remover.ts';
import { pauseRetiredSubscriptions } from './subscriptions/pause-retired-subscriptions.ts';
import { raiseAlerts } from './subscriptions/raise-alerts.ts';
import type { EventTypePin } from './subscriptions/read-pins.ts';
import { FreezeWatch } from './workers/freeze-watch.ts';
import { homesChanged } from './workers/sql/freezes.ts';
import { workersChanged } from './workers/sql/shard-rows.ts';
import { Workers } from './workers/workers.ts';

/** How long a worker keeps its shards without renewing its lease. */
const defaultLeaseMs = 15_000;

const retiredBatchSize = 100;

/** The longest delay that `setTimeout` accepts. */
const neverMs = 2 ** 31 - 1;

/**
 * Makes one attempt, as `Send` of dispatch.
 *
 * @param attempt the number of the attempt, from 1
 * @param details which details of the attempt to report. Undefined for none
 */
export type Send = (
  target: SendableTarget,
  delivery: PendingDelivery,
  attempt: number,
  details: DetailsPolicy | undefined,
) => Promise<AttemptResult>;

export interface WebhookEngineOptions {
  /** Used for everything except fan-out and lease renewal. */
  store: Store;
  /** Used by fan-out only, with at least four connections, so that a burst of deliveries does not delay new events. */
  fanOutStore: Store;
  /** Used to renew the lease only, with two connections, so that no other statement delays a renewal. */
  renewalStore: Store;
  /** The URL of a direct connection, for the lock of retention. */
  directUrl: string;
  /** Shown to operators, for example `host/pid`. */
  name: string;
  clock: Clock;
  /** From 0 (inclusive) to 1 (exclusive). */
  random: () => number;
  renderer: Renderer;
  send: Send;
  openSecret: DispatchStorageOptions['openSecret'];
  /** Returns the retired versions of event types. `pauseRetired` pauses the subscriptions that pin one. */
  retiredVersions: () => readonly EventTypePin[];
  /** The maximum number of requests in flight. */
  slots: number;
  /** Whether the process sends mails to contact addresses, which interfaces read. Defaults to false. */
  sendsMail?: boolean | undefined;
  /** Defaults to 15 s. */
  leaseMs?: number | undefined;
  /** How often to poll for work whose notification was lost. 0 disables polling. */
  pollMs: number;
  /** How long payloads are kept. Deliveries and attempts are kept 7 days longer. */
  retentionDays: number;
  /** How long the details of attempts are kept. 0: none are, and those that exist are kept for a day. */
  exchangeRetentionDays: number;
  /** How long replays are kept after their end. */
  replayRetentionDays: number;
  onEvent: (event: EngineEvent) => void;
  /** Starts spans of fan-out. Omitted if nothing is traced; `send` makes those of attempts. */
  traceFanOut?: TraceFanOut | undefined;
}

/**
 * A worker: owns shards, fans out the events of their accounts, sends their deliveries and records the results.
 *
 *     const engine = createWebhookEngine(options);
 *     await engine.start(); // registers, then acquires shards in the background
 *     engine.wake(payload); // for each notification of the database
 *     engine.stopClaiming(); // on SIGTERM
 *     await engine.drain(); // records the results of requests in flight, and releases the shards
 */
export interface WebhookEngine {
  /** Registers the worker and starts to acquire shards. If it throws, nothing has started. */
  start(): Promise<void>;
  /**
   * Checks for new work. Call it with the payload of each notification, and with null when notifications may have been
   * lost. An empty payload wakes everything too.
   */
  wake(payload: string | null): void;
  /** Stops claiming deliveries. Requests in flight continue. */
  stopClaiming(): void;
  /** Stops the worker. Resolves once every result is recorded and the shards are released. */
  drain(): Promise<void>;
  /** Pauses the subscriptions that pin a retired version. Call it periodically. */
  pauseRetired(): Promise<void>;
  /**
   * Appends the alerts that are due about the subscriptions of this worker. Call it periodically.
   *
   * @param gidNamespace that of the global identifiers in them
   * @param signal ends it early
   */
  raiseAlerts(gidNamespace: string, signal: AbortSignal): Promise<void>;
  /** Lists what prevents the worker from starting, one sentence each. */
  problems(service: Service): Promise<readonly string[]>;
  /** `blocked`: queue entries that wait for another build or for another attempt, counted every 10 seconds. */
  stats(): DispatcherStats & { readonly shards: number; readonly blocked: number };
  /** How many subscriptions in memory have a breaker in each state. */
  readonly breakers: () => BreakerCounts;
  /** Reads what is left to do in the whole database. Null unless the worker owns shard 0, so that one worker reads it. */
  queueState(): Promise<QueueState | null>;
}

export function createWebhookEngine(options: WebhookEngineOptions): WebhookEngine {
  const { store, clock, random, onEvent, leaseMs = defaultLeaseMs } = options;
  const writer = { workerId: () => workers.id, onFenced: () => workers.fencedOut() };
  const pollMs = options.pollMs === 0 ? neverMs : options.pollMs;
  let isStalled = false;

  const exchanges = options.exchangeRetentionDays === 0 ? null : new Exchanges({ store, clock, onEvent });

  const statistics = new HourStatistics({ store, clock, onEvent, ...writer });

  const dispatcher: Dispatcher = new Dispatcher({
    storage: createDispatchStorage({
      store,
      openSecret: options.openSecret,
      onEvent,
      ...writer,
    }),
    send: (target, delivery, attempt) =>
      options.send(target, delivery, attempt, exchanges?.policyOf(delivery.subscriptionId, attempt)),
    clock,
    random,
    leaseMs,
    slots: options.slots,
    onRecorded: (result, nowMs) => statistics.count(result, nowMs),
    onReplayedSettled: (lane) => replays.feedAgain(lane),
    onEvent(event) {
      if (event.kind === 'attempt') addExchange(event);
      else if (event.kind === 'settling-stalled') isStalled = true;
      else if (event.kind === 'settling-resumed') isStalled = false;
      onEvent(event);
    },
  });

  function addExchange({ delivery, urlNumber, number, result }: Extract<EngineEvent, { kind: 'attempt' }>): void {
    const { startedAt, exchange: details } = result;
    if (details === undefined) return;
    const { deliveryId, subscriptionId, replayId } = delivery;
    exchanges?.add({ deliveryId, subscriptionId, number, startedAt, urlNumber, replayId, details });
  }

  const eraserOf = (id: SubscriptionId) => new ExchangeEraser(store, id);
  const backlogs = new BacklogRemover({ store, clock, eraserOf, onEvent, ...writer });

  const replays = new ReplayFeeder({
    storage: createReplayStorage(store, writer.workerId),
    clock,
    lanes: dispatcher,
    onFenced: writer.onFenced,
    onEvent,
  });

  const fanOut: FanOut = new FanOut({
    store: options.fanOutStore,
    clock,
    workerId: writer.workerId,
    render: options.renderer,
    expect: (lanes) => dispatcher.expect(lanes),
    offer: (deliveries) => dispatcher.offer(deliveries),
    isBehind: (accountId) => dispatcher.isBehind(accountId),
    onSubscriptionChanged: (id) => applySubscriptionChange({ store, dispatcher, backlogs, replays }, id),
    onUncertain(lanes) {
      for (const lane of lanes) dispatcher.openLane(lane);
    },
    onEvent(event) {
      if (event.kind === 'fan-out-fenced') workers.fencedOut();
      onEvent(event);
    },
    limits: { pollMs },
    traceFanOut: options.traceFanOut,
  });

  const workers: Workers = new Workers({
    store,
    renewalStore: options.renewalStore,
    clock,
    name: options.name,
    leaseMs,
    sendsMail: options.sendsMail ?? false,
    isStalled: () => isStalled,
    onAcquired: (shards) =>
      openShards(
        {
          store,
          clock,
          dispatcher,
          onOpened(shard) {
            fanOut.addShards([shard]);
            backlogs.addShard(shard.shard);
            replays.addShard(shard.shard);
          },
          isOwned: (shard) => workers.shards.has(shard),
          onUnavailable: (shard, error) => onEvent({ kind: 'shard-unreadable', shard, error }),
          onResumed: () => onEvent({ kind: 'loop-resumed', loop: 'shards' }),
        },
        shards,
      ),
    recoveringIn: (shards) => [...dispatcher.recoveringIn(shards), ...fanOut.recoveringIn(shards)],
    async onReleasing(shards) {
      await Promise.all(shards.map((shard) => fanOut.removeShard(shard)));
      await Promise.all(shards.map((shard) => backlogs.removeShard(shard)));
      await Promise.all(shards.map((shard) => replays.removeShard(shard)));
      for (const shard of shards) dispatcher.closeShard(shard);
    },
    inFlight: (shards) => dispatcher.unfinishedIn(shards),
    async onLost() {
      fanOut.removeAllShards();
      backlogs.removeAllShards();
      replays.removeAllShards();
      dispatcher.closeAllShards();
    },
    onEvent,
  });

  const freezes = new FreezeWatch({
    store,
    clock,
    workerId: writer.workerId,
    pollMs,
    lanes: dispatcher,
    flush: () => Promise.all([statistics.flush(), exchanges?.flush()]),
    onEvent,
  });

  const retention = createRetention({
    store,
    directUrl: options.directUrl,
    retentionDays: {
      history: options.retentionDays,
      exchanges: Math.max(1, options.exchangeRetentionDays),
      replays: options.replayRetentionDays,
    },
    clock,
    onEvent,
  });

  const sequencesBehind = new Set<string>();

  return {
    async start() {
      await workers.start();
      freezes.start();
      await fanOut.prepare();
      retention.start();
    },
    wake(payload) {
      const isForAll = payload === null || payload === '';
      if (isForAll || payload === workersChanged) workers.wake();
      // This worker may have registered again: it has acknowledged nothing under its new id.
      if (isForAll || payload === workersChanged || payload === homesChanged) freezes.wake();
      if (isForAll || payload === homesChanged) fanOut.wake(null);
      else if (payload !== workersChanged && workers.shards.has(Number(payload))) fanOut.wake([Number(payload)]);
    },
    stopClaiming: () => dispatcher.stopClaiming(),
    async drain() {
      // If something of what follows does not end, only what is counted from now on is lost.
      void statistics.write();
      await Promise.all([workers.leave(), retention.stop(), freezes.stop()]);
      await fanOut.stop();
      await backlogs.stop();
      await replays.stop();
      await dispatcher.drain();
      await exchanges?.stop();
      await statistics.stop();
      await workers.stop();
    },
    async pauseRetired() {
      const versions = options.retiredVersions();
      if (versions.length === 0) return;
      let paused;
      do {
        paused = await store.transaction((transaction) =>
          pauseRetiredSubscriptions(transaction, workers.id, versions, retiredBatchSize),
        );
        if (paused.length > 0) onEvent({ kind: 'retired-paused', subscriptions: paused.map(({ id }) => id) });
      } while (paused.length === retiredBatchSize);
    },
    async raiseAlerts(gidNamespace, signal) {
      if (workers.shards.size === 0) return;
      try {
        await raiseAlerts(store, { workerId: workers.id, shards: workers.shards, gidNamespace, signal });
      } catch (error) {
        if (!(error instanceof FencedOutError)) throw error;
        workers.fencedOut();
      }
    },
    async problems(service) {
      const check = await checkDatabaseOfApps(store, service, 'webhook_worker');
      for (const { name } of check.sequences.filter(keepsWorkersFromStarting)) {
        if (sequencesBehind.has(name)) continue;
        sequencesBehind.add(name);
        onEvent({ kind: 'sequence-behind', alarm: true, sequence: name, command: advanceSequencesCommand() });
      }
      return describeCheckOfApps(check);
    },
    breakers: () => dispatcher.breakers(),
    queueState: async () => (workers.shards.has(0) ? readQueueState(store) : null),
    stats: () => ({ ...dispatcher.stats(), shards: workers.shards.size, blocked: fanOut.blocked }),
  };
}
