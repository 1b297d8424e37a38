import { Pool } from 'undici';
import { signedHeaders } from '../signed-headers.ts';

/** What a queue stores for a delivery. The number of the receiver is an index into the list of origins. */
export interface PeerDelivery {
  webhookId: string;
  receiver: number;
  body: string;
}

/** Sends a delivery and returns the status of the response. */
export type Post = (delivery: PeerDelivery) => Promise<number>;

// Per origin, as many as a lane of the worker has in flight.
const connections = 16;

/** Sends with one undici pool per origin. Every peer uses it. */
export function createPost(origins: readonly string[]): Post {
  const pools = new Map<number, Pool>();
  return async ({ webhookId, receiver, body }) => {
    const pool = pools.get(receiver) ?? new Pool(origins[receiver] ?? '', { connections });
    pools.set(receiver, pool);
    const headers = signedHeaders(webhookId, body);
    const response = await pool.request({ method: 'POST', path: '/hooks', headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`Status ${response.statusCode}`);
    return response.statusCode;
  };
}
