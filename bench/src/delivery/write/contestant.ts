import type { LoadRequest } from '../../graphql/load-protocol.ts';

/** An API that commits a record with its event, and a worker that sends the webhook, each in its own process. */
export interface WriteContestant {
  readonly name: string;
  /** Each one causes one delivery. */
  readonly request: Omit<LoadRequest, 'connections' | 'durationMs'>;
  /** The CPU time of its processes, as soon as the result of each delivery is recorded. */
  settledCpuMs(): Promise<{ api: number; worker: number }>;
}
