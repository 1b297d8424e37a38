import type { WritePeerName } from '../peer-names.ts';
import { transactionalGraphileWorker } from './graphile-worker.ts';
import { transactionalPgBoss } from './pg-boss.ts';
import type { TransactionalQueue } from './queue.ts';

export const transactionalQueues: Readonly<Record<WritePeerName, TransactionalQueue>> = {
  'pg-boss': transactionalPgBoss,
  'graphile-worker': transactionalGraphileWorker,
};
