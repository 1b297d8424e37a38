import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createServiceDatabase } from '@deedwire/store/test-support';
import { connect, type Connection } from '@deedwire/testing';
import { expect, onTestFinished } from 'vitest';

export const slotMs = 20;
export const processCount = 3;
/** The default limit of a client. */
export const maximum = 2_000;
export const ratePerSecond = 200;

/** A database with one client, `busy`. */
export interface AttackedDatabase {
  superuser: Connection;
  supplierUrl: string;
}

/** Drops the database when the test finishes. */
export async function createDatabase(): Promise<AttackedDatabase> {
  const database = await createServiceDatabase();
  onTestFinished(() => database.drop());
  const superuser = await connect(database.databaseUrl);
  onTestFinished(() => superuser.close());
  await superuser.run(`
    insert into organization (id, name) values (1, 'Test');
    insert into account (id, interface, organization_id, name) values (1, 'supplier', 1, 'Test');
    insert into api_client (account_id, interface, client_id, schema_version) values (1, 'supplier', 'busy', '2026-11-01')`);
  return { superuser, supplierUrl: await database.urlFor('supplier_api') };
}

export interface Slot {
  /** The number of the slot, from the start of the machine. */
  slot: number;
  /** Charged minus refunded points. */
  admitted: number;
  /** Rejected charges. */
  rejected: number;
}

/** Starts processes whose client attacks while `work` runs. Returns the slots of time, summed over the processes. */
export async function attackWhile(
  { superuser, supplierUrl }: AttackedDatabase,
  work: () => Promise<void>,
): Promise<Slot[]> {
  const script = new URL('../hostile-process.ts', import.meta.url).pathname;
  const outputs = Array.from({ length: processCount }, () => {
    const child = spawn(
      process.execPath,
      ['--conditions=deedwire-source', script, supplierUrl, 'busy', String(slotMs)],
      {
        stdio: ['pipe', 'pipe', 'inherit'],
      },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() };
  });
  for (const { lines } of outputs) expect((await lines.next()).value).toBe('ready');
  // Full again: the processes have used the bucket to begin.
  await superuser.run('update cost_bucket set points = $1', [maximum]);
  for (const { child } of outputs) child.stdin.write('go\n');
  await work();
  for (const { child } of outputs) child.stdin.write('stop\n');
  const summed = new Map<number, Pick<Slot, 'admitted' | 'rejected'>>();
  for (const { child, lines } of outputs) {
    const reported: [number, Pick<Slot, 'admitted' | 'rejected'>][] = JSON.parse((await lines.next()).value ?? '[]');
    for (const [slot, { admitted, rejected }] of reported) {
      const before = summed.get(slot) ?? { admitted: 0, rejected: 0 };
      summed.set(slot, { admitted: before.admitted + admitted, rejected: before.rejected + rejected });
    }
    if (child.exitCode === null) await once(child, 'exit');
    expect(child.exitCode).toBe(0);
  }
  const first = Math.min(...summed.keys());
  const count = Math.max(...summed.keys()) - first + 1;
  return Array.from({ length: count }, (_, index) => ({
    slot: first + index,
    ...(summed.get(first + index) ?? { admitted: 0, rejected: 0 }),
  }));
}

export const total = (slots: readonly Slot[]): number => slots.reduce((sum, { admitted }) => sum + admitted, 0);

/**
 * The largest number of points by which the operations of a period exceed a full bucket and what it regains in the period, over
 * all periods: the largest sum of consecutive slots, each less what is restored in it (Kadane's algorithm).
 */
export function worstExcess(slots: readonly Slot[]): number {
  const restored = (ratePerSecond * slotMs) / 1000;
  let worst = -Infinity;
  let current = 0;
  for (const { admitted } of slots) {
    current = Math.max(0, current) + admitted - restored;
    worst = Math.max(worst, current);
  }
  return worst - maximum;
}
