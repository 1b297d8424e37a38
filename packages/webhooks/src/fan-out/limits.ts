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
  /** How often blocked entries are examined without a change of a subscription. */
  readonly blockedMs: number;
  /** How often blocked entries are counted. */
  readonly blockedCountMs: number;
  /** How many entries one statement unblocks. */
  readonly unblockedTogether: number;
  /** How long to wait after such a statement before the account continues. */
  readonly unblockPauseMs: number;
}

export const defaultFanOutLimits: FanOutLimits = {
  bulkDeliveries: 512,
  expressDeliveries: 128,
  bulkRounds: 1,
  roundBytes: 8 * 1024 * 1024,
  knownEntries: 200_000,
  entriesPerRead: 5_000,
  pollMs: 1_000,
  pinsMaxAgeMs: 5_000,
  blockedMs: 60_000,
  blockedCountMs: 10_000,
  unblockedTogether: 500,
  unblockPauseMs: 10,
};
