import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { testService } from '@deedwire/core/test-service';
import { createLogger } from '@deedwire/service-runtime';
import { createStore, requestTimeouts, StoreUnavailableError } from '@deedwire/store';
import { Registry } from 'prom-client';
import { defaultCostLimit, openCostBuckets } from '../src/cost/open-cost-buckets.ts';

/**
 * A process of an interface whose client charges as many operations as it can, and refunds parts of them. It prints `ready`,
 * begins when it reads a line, and prints the points that it admitted in each slot of time as JSON when it reads another one.
 * The slots count from the start of the machine: the monotonic clock of Linux is the same for all processes.
 */
const [, , databaseUrl = '', clientId = '', slotMs = ''] = process.argv;

const store = createStore({
  databaseUrl,
  applicationName: 'hostile',
  maxConnections: 2,
  timeouts: requestTimeouts(2_500),
});
const costs = openCostBuckets({
  interfaceName: 'supplier',
  database: store,
  logger: createLogger({ name: 'hostile', level: 'silent', service: testService }),
  metrics: new Registry(),
});
const { buckets } = costs;
const slots = new Map<number, { admitted: number; rejected: number }>();

function record(points: number, rejected = 0): void {
  const slot = Math.floor(Number(process.hrtime.bigint()) / 1e6 / Number(slotMs));
  const { admitted, rejected: before } = slots.get(slot) ?? { admitted: 0, rejected: 0 };
  slots.set(slot, { admitted: admitted + points, rejected: before + rejected });
}

let isRunning = true;

/** False also if the database does not respond, which a request reports as SERVICE_UNAVAILABLE. */
async function charge(points: number): Promise<boolean> {
  try {
    return (await buckets.charge(clientId, defaultCostLimit, points)).admitted;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return false;
    throw error;
  }
}

async function attack(): Promise<void> {
  while (isRunning) {
    // Mostly small operations, and some of the most expensive ones.
    const points = Math.random() < 0.9 ? 1 + Math.floor(Math.random() * 20) : 1 + Math.floor(Math.random() * 1_000);
    const isAdmitted = await charge(points);
    if (!isAdmitted) {
      record(0, 1);
      // Thousands of tries a second: more would only be rejected, and keep the processors from other tests.
      await sleep(2);
      continue;
    }
    record(points);
    if (Math.random() < 0.3) await sleep(Math.random() * 50);
    const refunded = Math.floor(Math.random() * (points + 1));
    buckets.refund(clientId, defaultCostLimit, refunded);
    record(-refunded);
  }
}

await buckets.charge(clientId, defaultCostLimit, 1);
buckets.refund(clientId, defaultCostLimit, 1);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const attacks = Array.from({ length: 16 }, () => attack());
await once(process.stdin, 'data');
isRunning = false;
await Promise.all(attacks);
process.stdout.write(`${JSON.stringify([...slots])}\n`);
costs.close();
await store.close();
process.stdin.destroy();
