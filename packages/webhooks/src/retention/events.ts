/** Events of retention for logs and metrics. Alarms need an operator. */
export type RetentionEvent =
  | { readonly kind: 'partitions-created'; readonly daysAhead: number }
  /** Undelivered deliveries reached the end of retention. Their status is EXPIRED. */
  | { readonly kind: 'deliveries-expired'; readonly count: number }
  | { readonly kind: 'partition-dropped'; readonly name: string }
  /** A run failed. It is retried. */
  | { readonly kind: 'retention-failed'; readonly error: unknown }
  /** A run has succeeded after one had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'retention' }
  /** Partitions exist for few days only. Events will be refused if creating partitions continues to fail. */
  | { readonly kind: 'partitions-short'; readonly alarm: true; readonly daysAhead: number }
  /** Partitions could not be dropped for days, because a transaction does not end. */
  | { readonly kind: 'partitions-overdue'; readonly alarm: true; readonly names: readonly string[] }
  /** Events that no worker could fan out reached the end of retention. No subscription receives them. */
  | { readonly kind: 'events-expired'; readonly alarm: true; readonly count: number };

export type OnRetentionEvent = (event: RetentionEvent) => void;
