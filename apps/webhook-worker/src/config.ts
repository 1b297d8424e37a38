import { appConfig, readConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import type { z } from 'zod';

const schema = appConfig({ port: 4003 }).safeExtend({
  /** How often to look for work that no notification told of. 0: never. */
  POLL_INTERVAL_MS: wholeNumberVariable({ min: 0, max: 60_000 }).default(500),
  /** How many requests to callback URLs may be under way at the same time. */
  WORKER_CONCURRENCY: wholeNumberVariable({ min: 1, max: 10_000 }).default(256),
});

export type WorkerConfig = z.output<typeof schema>;

/** The only reader of the environment. */
export function readWorkerConfig(): WorkerConfig {
  // oxlint-disable-next-line node/no-process-env -- here, and nowhere else in this app
  return readConfig(schema, process.env);
}
