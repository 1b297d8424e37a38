export interface FanOutLimits {
  /** About how many deliveries a bulk round writes. */
  readonly bulkDeliveries: number;
  /** About how many deliveries an express round writes. */
  readonly expressDeliveries: number;
  /** How many bulk rounds run at the same time. */
  readonly bulkRounds: number;
  /** About how many bytes the payloads of a round have, and the snapshots that it reads. */
  readonly roundBytes: number;
  /** How many entries of the queue are in memory. */
  readonly knownEntries: number;
  /** How many entries one statement reads. */
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
