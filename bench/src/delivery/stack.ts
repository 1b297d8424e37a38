import { startBenchPostgres, type BenchPostgres } from '../postgres.ts';
import { type Defer, withCleanup } from '../with-cleanup.ts';
import { createOurSystem, type OurSystem } from './ours/our-system.ts';
import { startReceiverChild, type ReceiverChild } from './receiver-child.ts';

export interface Stack {
  postgres: BenchPostgres;
  receiver: ReceiverChild;
  system: OurSystem;
}

/** Starts PostgreSQL, the receivers and our engine without a worker, and stops them and what `work` deferred after it. */
export async function withStack<Result>(
  { receivers }: { receivers: number },
  work: (stack: Stack, defer: Defer) => Promise<Result>,
): Promise<Result> {
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const receiver = await startReceiverChild(receivers);
    defer(() => receiver.close());
    const system = await createOurSystem(await postgres.createDatabase('ours'));
    defer(() => system.close());
    return work({ postgres, receiver, system }, defer);
  });
}
