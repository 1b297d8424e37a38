import { createOurSystem, type OurSystem } from './ours/our-system.ts';
import { startBenchPostgres, type BenchPostgres } from './postgres.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { withCleanup } from './with-cleanup.ts';

export interface Stack {
  postgres: BenchPostgres;
  receiver: Receiver;
  system: OurSystem;
}

/** Starts PostgreSQL, the receivers and our engine without a worker, and stops them after `work`. */
export async function withStack<Result>(
  { receivers }: { receivers: number },
  work: (stack: Stack) => Promise<Result>,
): Promise<Result> {
  return withCleanup(async (defer) => {
    const postgres = await startBenchPostgres();
    defer(() => postgres.close());
    const receiver = await startReceiver(receivers);
    defer(() => receiver.close());
    const system = await createOurSystem(await postgres.createDatabase('ours'));
    defer(() => system.close());
    return work({ postgres, receiver, system });
  });
}
