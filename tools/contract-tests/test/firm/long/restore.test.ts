import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ArchivedPostgres, startArchivedPostgres } from '../../support/failover/archived-postgres.ts';
import { isWithoutPostgres } from '../../support/failover/programs.ts';
import {
  expectAgreement,
  leaveOutMatterNumbers,
  openMatters,
  reconcileLog,
  startPullingReceiver,
} from '../support/earlier-state.ts';
import { type FaultSystem, startFaultSystem } from '../support/fault-system.ts';

// A base backup is made under load, and the archived log is restored up to a time of that load.

describe.skipIf(isWithoutPostgres)('a restore to an earlier time', () => {
  let server: ArchivedPostgres;
  let system: FaultSystem | null = null;

  beforeEach(async () => {
    server = await startArchivedPostgres();
    system = await startFaultSystem({
      server: { url: server.url, stop: () => Promise.resolve() },
      accounts: 2,
      leaseMs: 5_000,
    });
  });

  afterEach(async () => {
    await system?.close();
    await server.stop();
  });

  test('loses what was accepted after it, which receivers and operators notice, and the rest goes on', async () => {
    if (system === null) return;
    const { t, received, accepted } = system;
    const load = system.startLoad();
    await received.waitForMore(50);
    await server.backUp();
    await received.waitForMore(50);
    const given = await openMatters(system, 5);
    const kept = (await accepted.read()).length;
    const time = await server.now();
    await received.waitForMore(200);
    given.push(...(await openMatters(system, 60)));
    const receiver = await startPullingReceiver(system);
    expect(await receiver.reconcile()).toBe('complete');

    // The apps stop first, as the page says.
    for (const app of [...system.workers.splice(0), ...system.apis]) {
      app.kill('SIGTERM');
      expect(await app.ended).toEqual({ exitCode: 0, signal: null });
    }
    await server.lose();
    await server.restore(time);
    await leaveOutMatterNumbers(system, given);
    // At the same address, where the load still sends its requests.
    await t.system.restart('partner-api');
    system.workers.push(await system.addWorker());

    await received.waitForMore(200);
    await expect(receiver.reconcile()).rejects.toThrow(/BAD_USER_INPUT|SEQUENCE_GAP/);
    await receiver.reset();
    expect(await receiver.reconcile()).toBe('complete');
    await load.stop();
    const compared = await expectAgreement(system, kept);
    expect(compared.lostEvents).toBeGreaterThan(50);
    expect(compared.reusedSequences).toBeGreaterThan(50);
    const reconciled = await reconcileLog(system, receiver.subscriptionId);
    expect([reconciled.missing, reconciled.altered]).toEqual([[], []]);
    expect(reconciled.unexpected.length).toBeGreaterThan(10);
    process.stderr.write(`restore: ${JSON.stringify({ ...compared, unexpected: reconciled.unexpected.length })}\n`);
  });
});
