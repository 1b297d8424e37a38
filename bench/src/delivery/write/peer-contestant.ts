import { Client } from 'pg';
import type { ProcessUsage } from '../../app-process.ts';
import { startChild } from '../../child.ts';
import type { Defer } from '../../with-cleanup.ts';
import type { WriteContestant } from './contestant.ts';
import type { WritePeerName } from './peer-names.ts';
import { createReferralTable } from './referral-table.ts';

/**
 * Starts the API and the worker of a peer.
 *
 * @param databaseUrl an empty database
 */
export async function startWritePeer(
  name: WritePeerName,
  databaseUrl: string,
  origin: string,
  body: object,
  defer: Defer,
): Promise<WriteContestant> {
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query(createReferralTable);
  await client.end();
  const start = async (role: 'api' | 'worker') => {
    const module = './delivery/write/peer-process.ts';
    const started = await startChild<string, ProcessUsage>(module, role, name, databaseUrl, origin);
    defer(() => started.child.close());
    return started;
  };
  // Installs the queue.
  const { child: worker } = await start('worker');
  const { child: api, ready } = await start('api');
  const url = new URL(ready);
  return {
    name,
    request: {
      origin: url.origin,
      path: url.pathname,
      headers: [{ 'Content-Type': 'application/json' }],
      body: JSON.stringify(body),
      leastBytes: '{"id":"1"}'.length,
    },
    async settledCpuMs() {
      const { cpuMs } = await worker.ask('usage');
      return { worker: cpuMs, api: (await api.ask('usage')).cpuMs };
    },
  };
}
