/**
 * Where a store or an inbox keeps how far each subscription was pulled. A run holds a lease, so that only one process pulls a
 * subscription at a time. Any error means that the store is unavailable.
 */
export interface PullPositions {
  /** How long ids are remembered, in milliseconds. */
  readonly rememberedMs: number;
  /** How many ids are remembered. Undefined if nothing but the time limits them. */
  readonly rememberedCount?: number;
  /**
   * Takes the lease of a subscription.
   *
   * @param holder a text that no other run has
   * @returns the position, which is null at first. Null while another run has the lease
   */
  take(subscriptionId: string, holder: string, leaseMs: number): Promise<{ position: string | null } | null>;
  /**
   * Stores the position and renews the lease.
   *
   * @param position null only renews the lease
   * @returns false if the lease is lost. Nothing is stored then
   */
  keep(subscriptionId: string, holder: string, leaseMs: number, position: string | null): Promise<boolean>;
  /** Ends the lease, unless it is lost. */
  release(subscriptionId: string, holder: string): Promise<void>;
}
