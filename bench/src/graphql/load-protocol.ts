export interface LoadRequest {
  origin: string;
  path: string;
  /** Of each connection. With fewer of them than connections, they take turns. */
  headers: readonly Record<string, string>[];
  /** `{n}` stands for a number that no other request has. */
  body: string;
  /** A shorter response fails the bench. */
  leastBytes: number;
  connections: number;
  durationMs: number;
}

export interface LoadResult {
  requests: number;
  elapsedMs: number;
  p50Ms: number;
  p99Ms: number;
}
