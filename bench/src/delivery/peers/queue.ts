import type { ClientBase } from 'pg';
import type { PeerDelivery, Post } from '../signed-post.ts';

/** A queue with the same sending work, built as its documentation recommends for many short jobs. */
export interface Peer {
  /** Commits deliveries to the queue. They are not sent before `drain`. */
  add(deliveries: readonly PeerDelivery[]): Promise<unknown>;
  /** Sends everything that was added. Resolves when the queue has recorded the last result. */
  drain(deliveries: number): Promise<unknown>;
  /** The deliveries without a recorded result: 0 after `drain`. */
  countUnsettled(): Promise<number>;
  /** Stops what `drain` started. Not measured. */
  rest?(): Promise<unknown>;
  /** The process of its store, if it has started one. */
  readonly storePid?: number | undefined;
}

/** @param storeUrl the database that belongs to this peer alone. Empty if it needs none. */
export type StartPeer = (storeUrl: string, post: Post) => Promise<Peer>;

export interface JobAdder {
  /** In the transaction of a client. */
  add(client: ClientBase, delivery: PeerDelivery): Promise<unknown>;
  close(): Promise<unknown>;
}

/** A queue in PostgreSQL whose jobs commit together with the rows of an application. */
export interface TransactionalQueue {
  /** The queue must be installed. */
  startAdding(databaseUrl: string): Promise<JobAdder>;
  /** Installs the queue and sends its jobs until the process ends. Returns what counts the jobs without a result. */
  startWorking(databaseUrl: string, post: Post): Promise<() => Promise<number>>;
}

/** The requests in flight, where the queue does not decide it by the size of a batch. */
export const concurrency = 256;

/** Calls `work` with 1,000 values at a time, one call after another. */
export async function inChunks<Value>(
  values: readonly Value[],
  work: (chunk: Value[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < values.length; from += 1000) await work(values.slice(from, from + 1000));
}
