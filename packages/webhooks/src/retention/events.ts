/** What is reported for logs and metrics. Alarms need the attention of an operator. */
export type RetentionEvent =
  | { readonly kind: 'partitions-created'; readonly daysAhead: number }
  /** Undelivered deliveries that reached the end of retention. They read EXPIRED. */
  | { readonly kind: 'deliveries-expired'; readonly count: number }
  | { readonly kind: 'partition-dropped'; readonly name: string }
  /** A part of retention failed. It is repeated. */
  | { readonly kind: 'retention-failed'; readonly error: unknown }
  /** Partitions exist for so few days that events will be refused if creating them continues to fail. */
  | { readonly kind: 'partitions-short'; readonly alarm: true; readonly daysAhead: number }
  /** Partitions that could not be dropped for days. A transaction that never ends prevents it. */
  | { readonly kind: 'partitions-overdue'; readonly alarm: true; readonly names: readonly string[] }
  /** Events that no worker could fan out reached the end of retention. No subscription receives them. */
  | { readonly kind: 'events-expired'; readonly alarm: true; readonly count: number };

export type OnRetentionEvent = (event: RetentionEvent) => void;
