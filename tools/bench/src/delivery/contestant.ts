import type { Measurement } from '../measure.ts';
import type { StoreUsage } from '../postgres.ts';
import type { Workload } from './workloads.ts';

/** Ours or a peer. One works at a time. */
export interface DeliveryContestant {
  readonly name: string;
  /** Commits events that cause this many deliveries. Nothing is sent before `drain`. */
  prepare(workload: Workload, deliveries: number): Promise<void>;
  /** Releases what was prepared, and resolves when the last delivery is settled. */
  drain(): Promise<Measurement>;
  /** The use of its store by everything so far. */
  storeUsage(): Promise<StoreUsage>;
}
