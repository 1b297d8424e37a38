import { startPostgres, type PostgresServer } from '@deedwire/embedded-postgres';
import { connect, eventually } from '@deedwire/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startFaultSystem, type FaultSystem } from '../support/faults/fault-system.ts';
import { mountSmallDisk, type SmallDisk } from '../support/faults/small-disk.ts';
import { expectAllDelivered, windowMax } from '../support/faults/verdict-of.ts';

let disk: SmallDisk | null;
let server: PostgresServer;
let system: FaultSystem | null = null;

beforeEach(async () => {
  disk = await mountSmallDisk(256);
  server = await startPostgres();
});

afterEach(async () => {
  await (system === null ? server.stop() : system.close());
  await disk?.close();
});

test(
  'accepts nothing while the disk of the database is full, and delivers every event',
  { timeout: 300_000 },
  async ({ skip }) => {
    if (disk === null) return skip('A small file system cannot be mounted here: that needs root on Linux.');
    // All tables are on the small disk. The log of PostgreSQL is not: without space for it, the server stops.
    const superuser = await connect(server.url);
    await superuser.run(`create tablespace small location '${disk.tablespace}'`);
    await superuser.run(`alter database postgres set default_tablespace = small`);
    await superuser.close();
    system = await startFaultSystem({ server, accounts: 2, leaseMs: 2_000 });
    const { received } = system;

    const load = system.startLoad();
    await received.waitForMore(20);
    await disk.fill();
    try {
      await eventually(() => expect(load.failures).toContain('503 SERVICE_UNAVAILABLE'), 240_000);
    } finally {
      await disk.free();
    }
    await received.waitForMore(50);
    await expectAllDelivered(system, await load.stop(), windowMax * system.subscriptions.size);
  },
);
