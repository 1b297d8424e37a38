import type { WorkerId } from './worker-id.ts';

/** The worker was declared dead. Its statement wrote nothing, and other workers own its shards. */
export class FencedOutError extends Error {
  readonly code = 'FENCED_OUT';
  override readonly name = 'FencedOutError';

  constructor(workerId: WorkerId) {
    super(`Worker ${workerId} was declared dead. Its statement wrote nothing.`);
  }
}
