export interface LoadRequest {
  origin: string;
  path: string;
  /** Of each connection. With fewer of them than connections, they take turns. */
  headers: readonly Record<string, string>[];
  /** `{n}` stands for a number that no other request has. */
  body: string;
  /** Of the responses. 200 if omitted. */
  status?: number;
  /** A shorter response fails the bench. */
  leastBytes: number;
  /** Counts responses with status 503, which fail the bench otherwise. */
  mayRefuse?: boolean;
  connections: number;
  durationMs: number;
  /** Ends after this many requests, if that is sooner. Each connection sends at least one. */
  requests?: number;
}

export interface LoadResult {
  /** With the expected status. */
  requests: number;
  /** With status 503. Their times do not count. */
  refused: number;
  elapsedMs: number;
  p50Ms: number;
  p99Ms: number;
}
