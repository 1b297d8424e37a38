/** The result of one batch of a walk over a table. */
export interface Batch<Key> {
  /** Where the next batch continues. Null at the end of the table. */
  readonly next: Key | null;
  readonly changed: number;
  /** Rows that are due, but locked by another transaction. */
  readonly skipped: number;
}

/** How many rows a batch reads. */
export const batchRows = 5_000;

/** The row that a batch statement returns. A type alias, because rows need an index signature. */
export type BatchRow<Key> = {
  /** How many rows it read. */
  scanned: number;
  /** How many of these are due. */
  due: number;
  changed: number;
  /** The last row that it read. */
  last: Key | null;
};

export function toBatch<Key>({ scanned, due, changed, last }: BatchRow<Key>): Batch<Key> {
  return { next: scanned < batchRows ? null : last, changed, skipped: due - changed };
}
