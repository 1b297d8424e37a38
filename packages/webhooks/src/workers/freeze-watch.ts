import type { Store } from '@deedwire/store';
import type { Reports, WorkersEvent } from '../events.ts';
import type { WorkerId } from '../fence/fence.ts';
import { Backoff, type Clock, Pauses } from '../kernel/clock.ts';
import type { AccountId } from '../kernel/ids.ts';
import { acknowledgeFreeze, selectAway, selectNewFreeze } from './sql/freezes.ts';

export interface FreezeWatchOptions extends Reports<WorkersEvent> {
  store: Pick<Store, 'query'>;
  clock: Pick<Clock, 'setTimer'>;
  workerId: () => WorkerId;
  pollMs: number;
  /** The lanes of this process. */
  lanes: {
    accounts(): AccountId[];
    closeAccounts(ids: ReadonlySet<AccountId>): () => boolean;
  };
  /** Stores what is known about attempts apart from their results. */
  flush: () => Promise<unknown>;
}

const accountsTogether = 10_000;
const unfinishedMs = 20;

/**
 * Acknowledges freezes: that this process will start no attempt for the accounts, has none in flight, and has recorded them all. It
 * knows the accounts that are read after the freeze, so a lane that is opened later reads a target that does not exist.
 */
export class FreezeWatch {
  readonly #options: FreezeWatchOptions;
  readonly #pauses: Pauses;
  readonly #backoff = new Backoff();
  #running: Promise<void> | null = null;
  #isStarted = false;
  #isWoken = false;

  constructor(options: FreezeWatchOptions) {
    this.#options = options;
    this.#pauses = new Pauses(options.clock);
  }

  /** Call it when the worker is registered. */
  start(): void {
    this.#isStarted = true;
    this.wake();
    void this.#poll();
  }

  wake(): void {
    if (!this.#isStarted) return;
    this.#isWoken = true;
    this.#running ??= this.#run().finally(() => (this.#running = null));
  }

  async stop(): Promise<void> {
    this.#pauses.stop();
    await this.#running;
  }

  async #poll(): Promise<void> {
    while (await this.#pauses.wait(this.#options.pollMs)) this.wake();
  }

  async #run(): Promise<void> {
    while (this.#isWoken) {
      this.#isWoken = false;
      try {
        await this.#acknowledge();
        if (this.#backoff.reset()) this.#options.onEvent({ kind: 'loop-resumed', loop: 'freezes' });
      } catch (error) {
        this.#options.onEvent({ kind: 'freeze-unacknowledged', error });
        this.#isWoken = await this.#pauses.wait(this.#backoff.next());
      }
    }
  }

  async #acknowledge(): Promise<void> {
    const { store, workerId, lanes, flush } = this.#options;
    const id = workerId();
    const frozenAt = await selectNewFreeze(store, id);
    if (frozenAt === null) return;
    // Lanes that are added from now on read their targets after the freeze.
    const accounts = lanes.accounts();
    const away = new Set<AccountId>();
    for (let start = 0; start < accounts.length; start += accountsTogether)
      for (const account of await selectAway(store, accounts.slice(start, start + accountsTogether))) away.add(account);
    const areFinished = lanes.closeAccounts(away);
    while (!areFinished()) if (!(await this.#pauses.wait(unfinishedMs))) return;
    await flush();
    await acknowledgeFreeze(store, id, frozenAt);
  }
}
