/** What caused an event. */
export interface Origin {
  /** Null if no request caused it. */
  readonly requestId: string | null;
  /** The `traceparent` of the span that caused it, by the recommendation Trace Context of the W3C. Omitted unless it is traced. */
  readonly traceParent?: string;
}

/**
 * The columns `request_id` of an event and of its pending deliveries contain both, separated by a space: they are read, copied and
 * written together, and an event that is not traced costs nothing more.
 */
export function storedOrigin({ requestId, traceParent }: Origin): string | null {
  return traceParent === undefined ? requestId : `${requestId ?? ''} ${traceParent}`;
}

export function originOf(stored: string | null): Origin {
  const space = stored?.indexOf(' ') ?? -1;
  if (stored === null || space === -1) return { requestId: stored };
  return { requestId: stored.slice(0, space) || null, traceParent: stored.slice(space + 1) };
}
