import { Pool } from 'undici';
import { signedHeaders } from '../signed-headers.ts';

/** What a queue stores for a delivery. The number of the receiver is an index into the list of endpoints. */
export interface PeerDelivery {
  webhookId: string;
  receiver: number;
  body: string;
}

/** Sends a delivery and returns the status of the response. */
export type Post = (delivery: PeerDelivery) => Promise<number>;

// Per origin, as many as a lane of the worker has in flight.
const connections = 16;

/**
 * Sends with one undici pool per origin. Every peer uses it.
 *
 * @param endpoints their URLs
 */
export function createPost(endpoints: readonly string[]): Post {
  const receivers = endpoints.map((endpoint) => {
    const { origin, pathname: path } = new URL(endpoint);
    return { pool: new Pool(origin, { connections }), path };
  });
  return async ({ webhookId, receiver, body }) => {
    const { pool, path } = receivers[receiver] ?? {};
    if (pool === undefined || path === undefined) throw new Error(`There is no receiver ${receiver}.`);
    const headers = signedHeaders(webhookId, body);
    const response = await pool.request({ method: 'POST', path, headers, body });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`Status ${response.statusCode}`);
    return response.statusCode;
  };
}
