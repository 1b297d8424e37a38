import type { Measurement } from '../measure.ts';
import type { StoreUsage } from '../postgres.ts';
import type { Workload } from './workloads.ts';

export interface Drained extends Measurement {
  /** Above `operations` where attempts timed out and were repeated, as on a busy machine. */
  attempts: number;
}

/** Ours or a peer. One works at a time. */
export interface DeliveryContestant {
  readonly name: string;
  /** Commits events that cause this many deliveries. Nothing is sent before `drain`. */
  prepare(workload: Workload, deliveries: number): Promise<void>;
  /** Releases what was prepared, and resolves when the last delivery is settled. */
  drain(): Promise<Drained>;
  /** The use of its store by everything so far. */
  storeUsage(): Promise<StoreUsage>;
}
