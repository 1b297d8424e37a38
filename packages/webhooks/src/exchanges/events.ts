/** Details of attempts were lost. Nothing else is affected. */
export type ExchangesEvent =
  /** More waited than the worker keeps in memory. */
  | { readonly kind: 'exchanges-dropped'; readonly count: number }
  /** The database did not store them. The next ones are tried after a delay. */
  | { readonly kind: 'exchanges-not-stored'; readonly count: number; readonly error: unknown };

export type OnExchangesEvent = (event: ExchangesEvent) => void;
