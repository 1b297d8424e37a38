import type { PeerDelivery, Post } from '../signed-post.ts';

/** A queue with the same sending work, built as its documentation recommends for many short jobs. */
export interface Peer {
  /** Commits deliveries to the queue. They are not sent before `drain`. */
  add(deliveries: readonly PeerDelivery[]): Promise<void>;
  /** Sends everything that was added. Resolves when the queue has recorded the last result. */
  drain(deliveries: number): Promise<void>;
  /** The deliveries without a recorded result: 0 after `drain`. */
  countUnsettled(): Promise<number>;
  /** Stops what `drain` started. Not measured. */
  rest?(): Promise<void>;
}

/** @param storeUrl the database or the socket that belongs to this peer alone */
export type StartPeer = (storeUrl: string, post: Post) => Promise<Peer>;

/** The requests in flight, where the queue does not decide it by the size of a batch. */
export const concurrency = 256;
