import type { ClientBase } from 'pg';
import type { PeerDelivery, Post } from '../signed-post.ts';

/** A queue in PostgreSQL whose jobs commit together with the rows of an application. */
export interface TransactionalQueue {
  /** Returns what adds a job in the transaction of a client. The queue must be installed. */
  startAdding(databaseUrl: string): Promise<(client: ClientBase, delivery: PeerDelivery) => Promise<unknown>>;
  /** Installs the queue and sends its jobs until the process ends. Returns what counts the jobs without a result. */
  startWorking(databaseUrl: string, post: Post): Promise<() => Promise<number>>;
}
