export interface FanOutLimits {
  /** The approximate number of deliveries that a bulk round writes. */
  readonly bulkDeliveries: number;
  /** The approximate number of deliveries that an express round writes. */
  readonly expressDeliveries: number;
  /** The maximum number of concurrent bulk rounds. */
  readonly bulkRounds: number;
  /** The approximate size of the payloads of a round, and of the snapshots that it reads, in bytes. */
  readonly roundBytes: number;
  /** The maximum number of queue entries in memory. */
  readonly knownEntries: number;
  /** The maximum number of entries that one statement reads. */
  readonly entriesPerRead: number;
  /** How often the queue is read without a notification. */
  readonly pollMs: number;
  /** How long the subscriptions of an account are cached. */
  readonly pinsMaxAgeMs: number;
  /** After this time, entries that were blocked or set aside are examined again. */
  readonly blockedMs: number;
}

export const defaultFanOutLimits: FanOutLimits = {
  bulkDeliveries: 256,
  expressDeliveries: 128,
  bulkRounds: 1,
  roundBytes: 8 * 1024 * 1024,
  knownEntries: 200_000,
  entriesPerRead: 5_000,
  pollMs: 1_000,
  pinsMaxAgeMs: 5_000,
  blockedMs: 60_000,
};
