export const defaultFanOutLimits = {
  /** The approximate number of deliveries that a bulk round writes. */
  bulkDeliveries: 512,
  /** The approximate number of deliveries that an express round writes. */
  expressDeliveries: 128,
  /** The approximate size of the payloads of a round, and of the snapshots that it reads, in bytes. */
  roundBytes: 8 * 1024 * 1024,
  /** How many accounts one statement finds. */
  accountsPerRead: 512,
  /** While so many accounts have entries that wait or are in rounds, no others are found. Bounds the memory. */
  accountsMax: 25_000,
  /** How often the queue is read without a notification. */
  pollMs: 1_000,
  /** How often the entries of each account are counted anew. */
  countMs: 60_000,
  /** How long the subscriptions of an account are cached. */
  pinsMaxAgeMs: 5_000,
  /** How often blocked entries are examined without a change of a subscription. */
  blockedMs: 60_000,
  /** How often blocked entries are counted. */
  blockedCountMs: 10_000,
  /** How many entries one statement unblocks. */
  unblockedTogether: 500,
  /** How long to wait after such a statement before the next one. */
  unblockPauseMs: 10,
};

export type FanOutLimits = Readonly<typeof defaultFanOutLimits>;
