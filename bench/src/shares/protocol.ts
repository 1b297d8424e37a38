/** A client of the interface, and how long it sends. */
export interface VictimRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  durationMs: number;
}

/** Each request succeeded: otherwise the process ends with an error. */
export interface VictimResult {
  requests: number;
  p50Ms: number;
  p99Ms: number;
}

/** What an attack counts, for example the responses by status. */
export type AttackResult = Readonly<Record<string, number>>;
