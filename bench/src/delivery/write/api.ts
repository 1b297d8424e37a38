import { randomUUID } from 'node:crypto';
import { fastify } from 'fastify';
import { Pool } from 'pg';
import type { JobAdder } from '../peers/queue.ts';
import type { PeerDelivery } from '../signed-post.ts';

interface NewReferral {
  clientName: string;
  clientEmail: string | null;
  externalReference: string | null;
}

interface Referral {
  /** A bigint in decimal digits. */
  id: string;
  createdAt: Date;
}

const insertReferral = `
  insert into referral (account_id, client_name, client_email, external_reference)
  values (1, $1, $2, $3)
  returning id, created_at as "createdAt"`;

const schema = {
  body: {
    type: 'object',
    required: ['clientName'],
    properties: {
      clientName: { type: 'string' },
      clientEmail: { type: 'string', nullable: true },
      externalReference: { type: 'string', nullable: true },
    },
  },
  response: { 200: { type: 'object', properties: { id: { type: 'string' } } } },
};

/**
 * Serves a route that commits a referral together with the job that sends its webhook.
 *
 * @returns the URL of the route
 */
export async function serveReferrals(databaseUrl: string, jobs: JobAdder): Promise<string> {
  // As many as the client has connections, so that no request waits for one.
  const pool = new Pool({ connectionString: databaseUrl, max: 32 });
  const app = fastify();
  app.post<{ Body: NewReferral }>('/referrals', { schema }, async ({ body }) => {
    const client = await pool.connect();
    try {
      await client.query('begin');
      const { rows } = await client.query<Referral>({
        name: 'insert-referral',
        text: insertReferral,
        values: [body.clientName, body.clientEmail, body.externalReference],
      });
      const [referral] = rows;
      if (referral === undefined) throw new Error('The statement returned no row.');
      await jobs.add(client, toDelivery(referral, body));
      await client.query('commit');
      return { id: referral.id };
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  });
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/referrals`;
}

/** With the payload of our `referral.created` webhook of version 2026-11-01. */
function toDelivery({ id, createdAt }: Referral, { externalReference }: NewReferral): PeerDelivery {
  const webhookId = randomUUID();
  const data = { referralId: id, externalReference };
  const event = { id: webhookId, type: 'referral.created', version: '2026-11-01', timestamp: createdAt, data };
  return { webhookId, receiver: 0, body: JSON.stringify(event) };
}
