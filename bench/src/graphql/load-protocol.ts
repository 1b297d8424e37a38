export interface LoadRequest {
  origin: string;
  path: string;
  /** Of each connection. With fewer of them than connections, they take turns. */
  headers: readonly Record<string, string>[];
  /** `{n}` stands for a number that no other request has. */
  body: string;
  /** A shorter response with status 200 fails the bench. */
  leastBytes: number;
  /** Counts responses with status 503, which fail the bench otherwise. */
  mayRefuse?: boolean;
  connections: number;
  durationMs: number;
}

export interface LoadResult {
  /** With status 200. */
  requests: number;
  /** With status 503. Their times do not count. */
  refused: number;
  elapsedMs: number;
  p50Ms: number;
  p99Ms: number;
}
