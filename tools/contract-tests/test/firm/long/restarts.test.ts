import { startPostgres } from '@deedwire/embedded-postgres';
import { findProgram, missing } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectAllDelivered, type Result } from '../../support/faults/verdict-of.ts';
import { type Reads, startEventReader, startReads } from '../../support/reads.ts';
import { appNames, type BalancedApps, places, startBalancedApps } from '../support/balanced-apps.ts';
import { type FaultSystem, startFaultSystem } from '../support/fault-system.ts';
import { checkOutLastRelease } from '../support/last-release.ts';

// Two processes of each app serve a load through HAProxy, which retries nothing, while they are replaced one after the other.

const isWithoutHaproxy = findProgram('haproxy') === undefined && process.env['CI'] !== 'true';

const lenderQuery = '{ lender { name members { id } } }';

interface LoadedSystem {
  system: FaultSystem;
  apps: BalancedApps;
  /** Ends the load, and expects that no request has failed, and no delivery was lost. */
  expectNoFailure(): Promise<Result>;
  /** The highest sequence that a subscription has delivered. */
  lastSequence(subscriptionId: string): number;
}

let loaded: LoadedSystem;
let reads: Reads | undefined;

async function startLoaded(from?: string): Promise<void> {
  const system = await startFaultSystem({ server: await startPostgres(), accounts: 4, leaseMs: 5_000 });
  const { t } = system;
  const apps = await startBalancedApps(t, from);
  // Only those behind HAProxy remain.
  system.workers.splice(0);
  system.apis.splice(0);
  for (const app of Object.values(t.system.apps)) {
    app.kill('SIGTERM');
    expect(await app.ended).toEqual({ exitCode: 0, signal: null });
  }
  const load = system.startLoad(apps.url);
  const lenders = startReads(`${apps.url}/lenders/graphql`, t.accounts.lender.credential, lenderQuery, 4);
  reads = lenders;
  loaded = {
    system,
    apps,
    async expectNoFailure() {
      const written = await load.stop();
      const read = await lenders.stop();
      const result = await expectAllDelivered(system, written);
      expect({
        written: [...written.failures],
        read: [...read.failures],
        // A worker that stops records what it has sent. One without processor time for a lease does not.
        repeats: result.unobserved === 0 ? result.repeats : 0,
        ...(await apps.failures()),
      }).toEqual({ written: [], read: [], repeats: 0, failedConnections: 0, failedResponses: 0 });
      process.stderr.write(`restarts: ${JSON.stringify({ ...result, reads: read.responses })}\n`);
      return result;
    },
    lastSequence: (subscriptionId) =>
      system.received.deliveries
        .filter((delivery) => delivery.subscriptionId === subscriptionId)
        .reduce((highest, { sequence }) => Math.max(highest, sequence), 0),
  };
}

afterEach(async () => {
  await reads?.stop();
  await loaded.apps.close();
  await loaded.system.close();
});

describe.skipIf(isWithoutHaproxy)('two processes of each app', () => {
  describe('of this build', () => {
    beforeEach(() => startLoaded());

    test('are restarted one after the other, and no request fails', async () => {
      const { apps, system } = loaded;
      const { credential, subscriptionId } = subscriptionOf(system);
      const reader = startEventReader(`${apps.url}/partners/graphql`, credential, subscriptionId);
      await system.received.waitForMore(100);
      for (const name of appNames) {
        for (const place of places) {
          await apps.restart(name, place);
          await system.received.waitForMore(50);
        }
      }
      await loaded.expectNoFailure();
      const last = loaded.lastSequence(subscriptionId);
      const { sequences, failures } = await reader.stop(last);
      expect([...failures]).toEqual([]);
      expect(sequences).toEqual(Array.from({ length: last }, (_, index) => index + 1));
    });
  });

  test('of the previous release are replaced by those of this build, and back', async () => {
    const release = await checkOutLastRelease({ isBeforeMigration: true });
    try {
      await startLoaded(release.folder);
      const { apps, system } = loaded;
      await system.received.waitForMore(100);
      for (const folder of [undefined, release.folder]) {
        for (const place of places) {
          await Promise.all(appNames.map((name) => apps.restart(name, place, folder)));
          await system.received.waitForMore(100);
        }
      }
      const { accepted } = await loaded.expectNoFailure();
      expect(accepted).toBeGreaterThan(100);
    } finally {
      await release.remove();
    }
  });
});

/** A subscription of the first account. */
function subscriptionOf({ accounts, subscriptions, credentialOf }: FaultSystem) {
  const { accountId } = accounts[0] ?? missing();
  const [subscriptionId] = [...subscriptions].find(([, owner]) => owner === accountId) ?? missing();
  return { subscriptionId, credential: credentialOf(accountId) };
}
