import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLogin, createTestDatabase, freezeServer, startPostgres } from '@deedwire/embedded-postgres';
import { migrate } from '@deedwire/store';
import { connect, type Connection } from '@deedwire/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const slotMs = 20;
const processCount = 3;
const maximum = 2_000;
const ratePerSecond = 200;

let drop: () => Promise<void>;
let lenderUrl: string;
let superuser: Connection;
let children: ChildProcess[];

async function createDatabase(): Promise<void> {
  const database = await createTestDatabase({
    template: 'migrated',
    prepare: async (url) => void (await migrate(url)),
  });
  drop = () => database.drop();
  await open(database.databaseUrl, await database.urlFor('lender_api'));
}

/** A separate server, which the test may freeze. */
async function createServer(): Promise<string> {
  const server = await startPostgres();
  drop = () => server.stop();
  await migrate(server.url);
  await open(server.url, await createLogin(server.url, 'lender_login', 'lender_api'));
  return server.url;
}

async function open(databaseUrl: string, url: string): Promise<void> {
  lenderUrl = url;
  superuser = await connect(databaseUrl);
  await superuser.run(`
    insert into organization (id, name) values (1, 'Test');
    insert into account (id, interface, organization_id, name) values (1, 'lender', 1, 'Test');
    insert into api_client (account_id, interface, client_id, schema_version) values (1, 'lender', 'busy', '2026-11-01')`);
}

beforeEach(() => {
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await superuser.close();
  await drop();
});

interface Slot {
  /** The number of the slot, from the start of the machine. */
  slot: number;
  /** Charged minus refunded points. */
  admitted: number;
  /** Rejected charges. */
  rejected: number;
}

/** Starts processes whose client attacks while `work` runs. Returns the slots of time, summed over the processes. */
async function attackWhile(work: () => Promise<void>): Promise<Slot[]> {
  const script = new URL('hostile-process.ts', import.meta.url).pathname;
  const outputs = Array.from({ length: processCount }, () => {
    const child = spawn(process.execPath, ['--conditions=deedwire-source', script, lenderUrl, 'busy', String(slotMs)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.push(child);
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

const total = (slots: readonly Slot[]): number => slots.reduce((sum, { admitted }) => sum + admitted, 0);

const currentSlot = (): number => Math.floor(Number(process.hrtime.bigint()) / 1e6 / slotMs);

/**
 * The largest number of points by which the operations of a period exceed a full bucket and what it regains in the period, over
 * all periods: the largest sum of consecutive slots, each less what is restored in it (Kadane's algorithm).
 */
function worstExcess(slots: readonly Slot[]): number {
  const restored = (ratePerSecond * slotMs) / 1000;
  let worst = -Infinity;
  let current = 0;
  for (const { admitted } of slots) {
    current = Math.max(0, current) + admitted - restored;
    worst = Math.max(worst, current);
  }
  return worst - maximum;
}

describe('three processes of a client that charges as many operations as it can', () => {
  test('admit 2,000 points and 200 per second, and at most 200 more for each process, in every period', async () => {
    await createDatabase();
    const slots = await attackWhile(() => sleep(6_000));
    expect(worstExcess(slots)).toBeLessThanOrEqual(ratePerSecond * processCount);
    // The limit is also reached: no client is locked out.
    expect(total(slots)).toBeGreaterThan(maximum + (ratePerSecond * slots.length * slotMs) / 1000 / 2);
    expect(slots.reduce((sum, { rejected }) => sum + rejected, 0)).toBeGreaterThan(1_000);
  });

  test('get no points from steps of the clock of the database', async () => {
    await createDatabase();
    const slots = await attackWhile(async () => {
      for (let step = 0; step < 40; step += 1) {
        await sleep(100);
        const hours = step % 2 === 0 ? 1 : -1;
        await superuser.run('update cost_bucket set settled_at = settled_at - make_interval(hours => $1)', [hours]);
      }
    });
    expect(worstExcess(slots)).toBeLessThanOrEqual(ratePerSecond * processCount);
  });

  test('continue with their shares while the database does not respond', async () => {
    const serverUrl = await createServer();
    let frozen = { from: 0, to: 0 };
    const slots = await attackWhile(async () => {
      await sleep(1_000);
      const thaw = await freezeServer(serverUrl);
      const from = currentSlot();
      await sleep(4_000);
      frozen = { from, to: currentSlot() };
      thaw();
      await sleep(2_000);
    });
    // An outage adds at most the points of another full bucket.
    expect(worstExcess(slots)).toBeLessThanOrEqual(ratePerSecond * processCount + maximum);
    const during = slots.filter(({ slot }) => slot > frozen.from && slot < frozen.to);
    const seconds = (during.length * slotMs) / 1000;
    const admitted = total(during);
    expect(seconds).toBeGreaterThan(2);
    expect(admitted).toBeGreaterThan(0);
    expect(admitted).toBeLessThanOrEqual(ratePerSecond * seconds + 2 * ratePerSecond * processCount);
  });
});
