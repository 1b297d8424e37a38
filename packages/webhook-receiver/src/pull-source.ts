/** Where a page starts: after a cursor, at a time, or at the earliest event that is kept. */
export interface PageStart {
  readonly cursor: string | null;
  /** ISO 8601. */
  readonly since: string | null;
}

export interface PulledEvent {
  readonly sequence: number;
  readonly deliveryId: string;
  readonly isTest: boolean;
  /** Null if it could not be rendered. */
  readonly payload: string | null;
}

export interface PulledPage {
  readonly events: readonly PulledEvent[];
  /** Null on an empty page at whose start there is no cursor, of a subscription that has had no event. */
  readonly endCursor: string | null;
  readonly lastSequence: number;
  readonly firstKeptSequence: number | null;
  /** The clock of the server, in milliseconds since 1970. */
  readonly nowMs: number;
}

/** Reads pages of a subscription. */
export interface PullSource {
  readonly subscriptionId: string;
  /** How long a request may wait for an event, in seconds. */
  readonly waitSeconds: number;
  /**
   * @throws {TransientError} if the request can be repeated
   * @throws {PullError} otherwise
   */
  page(start: PageStart, first: number, waitSeconds: number, signal: AbortSignal): Promise<PulledPage>;
}
