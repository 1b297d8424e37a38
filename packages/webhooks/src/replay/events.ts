import type { ReplayId } from '../kernel/ids.ts';

/** Events of retries and replays for logs and metrics. Alarms need an operator. */
export type ReplayEvent =
  /** Everything that a replay matches was queued. */
  | { readonly kind: 'replay-completed'; readonly replay: ReplayId }
  /** A statement failed. It is repeated after a delay. */
  | { readonly kind: 'replay-unavailable'; readonly error: unknown }
  /** A statement has succeeded after one had failed. */
  | { readonly kind: 'loop-resumed'; readonly loop: 'replays' }
  /** The database refused a statement. The replay waits for a minute. */
  | {
      readonly kind: 'replay-refused';
      readonly alarm: true;
      readonly replay: ReplayId | null;
      readonly error: unknown;
    };
