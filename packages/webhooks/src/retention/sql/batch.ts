/** What one batch of a walk over a table did. */
export interface Batch<Key> {
  /** Where the next batch continues. Null at the end of the table. */
  readonly next: Key | null;
  readonly changed: number;
  /** Rows that were to be changed, but are locked at this moment. */
  readonly skipped: number;
}

/** How many rows a batch reads. */
export const batchRows = 5_000;

/** The row that a batch statement returns. A type, because rows need an index signature. */
export type BatchRow<Key> = {
  /** How many rows it read. */
  scanned: number;
  /** How many of these were to be changed. */
  due: number;
  changed: number;
  /** The last row that it read. */
  last: Key | null;
};

export function toBatch<Key>({ scanned, due, changed, last }: BatchRow<Key>): Batch<Key> {
  return { next: scanned < batchRows ? null : last, changed, skipped: due - changed };
}
