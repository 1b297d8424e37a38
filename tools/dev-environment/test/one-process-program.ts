import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { testService } from '@deedwire/core/test-service';
import { type InterfaceCode, startInterface } from '@deedwire/graphql-server';
/** A program with two interfaces and a worker. It stops them, starts them again, and ends when nothing of them is left. */
import { loadInterface, readLayout } from '@deedwire/layout';
import { startWorker } from '@deedwire/worker';
import { workspaceRoot } from '../src/workspace.ts';

type Environment = Record<string, string>;

const folder = join(workspaceRoot, 'tools/test-service');
const app = pathToFileURL(join(folder, 'src/service.ts')).href;
const layout = await readLayout(folder);
const { customer, supplier, worker }: Record<'customer' | 'supplier' | 'worker', Environment> = JSON.parse(
  process.env['APP_ENVIRONMENTS'] ?? '{}',
);

async function startAll() {
  const startOne = (name: 'customer' | 'supplier', env: Environment) =>
    startInterface(testService, name, { app, env, code: () => loadInterface<InterfaceCode>(layout, name) });
  return {
    interfaces: [await startOne('customer', customer), await startOne('supplier', supplier)],
    worker: await startWorker(testService, { app, env: worker }),
  };
}

const listeners = () =>
  Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));
/** What keeps the process from ending. A socket is closed a moment after its connection has ended. */
const open = () => process.getActiveResourcesInfo().filter((name) => /TCP|TLS|UDP|Timeout/.test(name));
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

for (const isStoppedEarly of [false, true, false]) {
  const { interfaces, worker: ofWorker } = await startAll();
  const apps = [...interfaces, ofWorker];
  if (!isStoppedEarly) await Promise.all(apps.map(({ ready }) => ready));
  const statuses: number[] = [];
  for (const { url } of interfaces) {
    const response = await fetch(`${url}/health`);
    await response.arrayBuffer();
    statuses.push(response.status);
  }
  const running = listeners();
  await Promise.all(apps.map(({ stop }) => stop()));
  const stopped = listeners();
  for (let waits = 0; waits < 100 && open().length > 0; waits += 1) await sleep(20);
  const adminUrls = apps.map(({ adminUrl }) => adminUrl);
  print({ statuses, adminUrls, running, stopped, left: open() });
}
