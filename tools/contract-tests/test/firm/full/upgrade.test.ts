import { startPostgres } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { migrate } from '@deedwire/store';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { expectAllDelivered } from '../../support/faults/verdict-of.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';
import { startFaultSystem } from '../support/fault-system.ts';
import { checkOutLastRelease } from '../support/last-release.ts';

// The apps of the previous release serve a load while the migrations of this build are applied, and then beside the apps of this
// build. Only this test runs two builds on one database.
const release = await forFile(checkOutLastRelease({ isBeforeMigration: true }));
const server = await startPostgres();
const system = await forFile(startFaultSystem({ server, release, accounts: 4, leaseMs: 5_000 }));

test('migrations delay the apps of the previous release, and fail no request of theirs for good', async () => {
  const load = system.startLoad();
  await system.received.waitForMore(50);
  await migrate(server.url, firm);
  await system.received.waitForMore(50);

  system.apis.push(await system.startApi({}, workspaceRoot));
  system.workers.push(await system.addWorker({}, workspaceRoot));
  await system.received.waitForMore(100);
  const { accepted } = await expectAllDelivered(system, await load.stop());
  expect(accepted).toBeGreaterThan(80);
});
