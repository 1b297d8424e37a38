import type { Store } from '@deedwire/store';
import type { WorkerId } from '../fence/fence.ts';
import type { Clock } from '../kernel/clock.ts';
import { renewLease } from './sql/worker-rows.ts';

export interface LeaseKeeperOptions {
  store: Store;
  clock: Pick<Clock, 'setTimer'>;
  workerId: WorkerId;
  leaseMs: number;
  renewMs: number;
  isStalled: () => boolean;
  onDead: () => void;
  onFailed: (error: unknown) => void;
  /** A renewal has succeeded after one had failed. */
  onResumed: () => void;
}

// A renewal on a half-open connection takes 10 s to fail. The next one does not wait for it.
const renewalsMax = 2;

/** Renews the lease of a worker until it is stopped, or until the worker was declared dead. */
export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  readonly #running = new Set<Promise<void>>();
  #isStopped = false;
  #hasFailed = false;
  #cancelTimer: (() => void) | null = null;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#schedule(options.renewMs);
  }

  async stop(): Promise<void> {
    this.#end();
    await Promise.all(this.#running);
  }

  #end(): void {
    this.#isStopped = true;
    this.#cancelTimer?.();
  }

  #schedule(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.clock.setTimer(() => this.#onTimer(), delayMs);
  }

  #onTimer(): void {
    this.#schedule(this.#options.renewMs);
    if (this.#options.isStalled() || this.#running.size >= renewalsMax) return;
    const renewal = this.#renew();
    this.#running.add(renewal);
    void renewal.then(() => this.#running.delete(renewal));
  }

  async #renew(): Promise<void> {
    const { store, workerId, leaseMs, renewMs, onDead, onFailed, onResumed } = this.#options;
    try {
      const isAlive = await renewLease(store, workerId, leaseMs);
      if (this.#hasFailed) onResumed();
      this.#hasFailed = false;
      if (isAlive || this.#isStopped) return;
      this.#end();
      onDead();
    } catch (error) {
      if (this.#isStopped) return;
      this.#hasFailed = true;
      onFailed(error);
      this.#schedule(renewMs / 5);
    }
  }
}
