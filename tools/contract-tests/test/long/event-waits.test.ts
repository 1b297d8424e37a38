import { readFileSync } from 'node:fs';
import { connect as connectTo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createAccount, issueCredential, setClientLimit } from '@deedwire/actions';
import { toRecordId } from '@deedwire/core';
import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import type { RunningServer } from '@deedwire/service-runtime';
import { type Credential, credentialHeaders, postGraphql } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertDelivery, insertSubscription, type StoredSubscription } from '../support/stored-deliveries.ts';

/*
 * The clients run in the process of the API, so that what is measured is an upper bound: they do nothing while their requests
 * wait. Times are printed, not asserted. On a quiet machine, `share` has to be at most 0.01, and `p99` 300 ms.
 */

const accounts = 50;
const waitsPerAccount = 10;

interface Reader {
  subscription: StoredSubscription;
  credential: Credential;
}

let harness: Harness;
let service: RunningServer;
const readers: Reader[] = [];

beforeAll(async () => {
  harness = await createHarness();
  service = await harness.startApi('customer');
  await service.whenReady;
  const { organizationId } = harness.accounts.customer.credential;
  for (let count = 0; count < accounts; count += 1) {
    const { id } = await createAccount(harness.operator, 'customer', { organizationId, name: `Customer ${count}` });
    const credential = await issueCredential(harness.operator, {
      interfaceName: 'customer',
      accountId: id,
      clientId: null,
    });
    const limit = { clientId: credential.clientId, maximum: 1_000_000, restoreRate: 1_000_000 };
    await setClientLimit(harness.operator, limit);
    const account = { ...harness.accounts.customer, accountId: toRecordId<'Account'>(id.split('/').at(-1) ?? '') };
    for (let number = 0; number < waitsPerAccount; number += 1) {
      const subscription = await insertSubscription(harness, 'customer', account);
      readers.push({ subscription, credential });
    }
  }
  await harness.sql('update webhook_subscription_sequence set last_sequence = 0');
});
afterAll(() => harness.close());

const query = `query ($id: ID!) { webhookEvents(subscriptionId: $id, first: 1, waitSeconds: 20) { edges { sequence } } }`;

async function waiting(): Promise<number> {
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  return Number(/deedwire_webhook_event_waits\{interface="customer"\} (\d+)/.exec(metrics)?.[1] ?? Number.NaN);
}

/** CPU seconds of the connections of the API to PostgreSQL. */
async function databaseSeconds(): Promise<number> {
  const rows = await harness.sql(`select pid from pg_stat_activity where application_name = 'deedwire-customer-api'`);
  const ticks = rows.map(({ pid }) => {
    const fields =
      readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
        .split(') ')[1]
        ?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, count) => sum + count, 0) / 100;
}

/** The shares of a core that this process, with the API and its clients, and the connections of the API use for ten seconds. */
async function coreShares(): Promise<{ process: number; database: number }> {
  const measuredMs = 10_000;
  const databaseBefore = await databaseSeconds();
  const before = process.cpuUsage();
  await sleep(measuredMs);
  const { user, system } = process.cpuUsage(before);
  const database = (await databaseSeconds()) - databaseBefore;
  return { process: (user + system) / 1000 / measuredMs, database: database / (measuredMs / 1000) };
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

interface Answer {
  /** When the response had arrived. */
  atMs: number;
  events: number;
}

/** Sends a request that waits. */
async function wait({ subscription, credential }: Reader): Promise<Answer> {
  const { body } = await postGraphql<{ webhookEvents: { edges: object[] } }>(
    `${service.url}/customer/graphql`,
    credential,
    {
      query,
      variables: { id: subscription.gid },
    },
  );
  expect(body.errors).toBe(undefined);
  return { atMs: performance.now(), events: body.data?.webhookEvents.edges.length ?? 0 };
}

test('each of 500 requests that wait takes at most 100 kB, and gets its event', async () => {
  const idle = await coreShares();
  const heapBefore = heapBytes();
  const answers = readers.map((reader) => wait(reader));
  await expect.poll(waiting).toBe(readers.length);
  const heapPerWait = (heapBytes() - heapBefore) / readers.length;

  const busy = await coreShares();
  expect(await waiting()).toBe(readers.length);
  await Promise.all(answers);

  // One of 500 requests at a time gets an event.
  const latencies: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const rounds = readers.map((reader) => wait(reader));
    await expect.poll(waiting).toBe(readers.length);
    for (let index = round; index < readers.length; index += 8) {
      const { subscription } = readers[index] ?? {};
      const answer = rounds[index];
      if (subscription === undefined || answer === undefined) continue;
      const [row] = await harness.sql(
        `select last_sequence + 1 as next from webhook_subscription_sequence where subscription_id = ${subscription.id}`,
      );
      const sequence = Number(row?.['next']);
      await insertDelivery(harness, subscription, { sequence });
      await harness.sql(
        `update webhook_subscription_sequence set last_sequence = ${sequence} where subscription_id = ${subscription.id}`,
      );
      const committedMs = performance.now();
      const { atMs, events } = await answer;
      expect(events).toBe(1);
      latencies.push(atMs - committedMs);
    }
    await Promise.all(rounds);
    await harness.sql('update webhook_subscription_sequence set last_sequence = 0');
    await harness.sql('delete from webhook_delivery');
  }
  latencies.sort((a, b) => a - b);
  const p99 = latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN;
  const shown = {
    waits: readers.length,
    share: busy.process - idle.process,
    idleShare: idle.process,
    databaseShare: busy.database - idle.database,
    heapPerWait: Math.round(heapPerWait),
    samples: latencies.length,
    p99,
  };
  process.stdout.write(`${JSON.stringify(shown)}\n`);
  expect(heapPerWait).toBeLessThan(100_000);
});

/** Sends a request that waits, and closes the connection. */
async function connectAndLeave({ subscription, credential }: Reader): Promise<void> {
  const body = JSON.stringify({ query, variables: { id: subscription.gid } });
  const headers = { Host: 'localhost', 'Content-Type': 'application/json', ...credentialHeaders(credential) };
  const lines = Object.entries({ ...headers, 'Content-Length': body.length }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  const socket = connectTo(service.port, '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(`POST /customer/graphql HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () => resolve());
  });
  await sleep(20);
  socket.destroy();
}

test('10,000 clients that connect, wait and leave, leave nothing behind', async () => {
  const round = async (): Promise<number> => {
    for (let sent = 0; sent < 5_000; sent += 100) {
      const start = sent % readers.length;
      await Promise.all(readers.slice(start, start + 100).map(connectAndLeave));
    }
    await expect.poll(waiting).toBe(0);
    await sleep(1000);
    return heapBytes();
  };
  const first = await round();
  const second = await round();
  process.stdout.write(`${JSON.stringify({ heapAfter5000: first, heapAfter10000: second })}\n`);
  expect(second - first).toBeLessThan(2_000_000);
  // Afterwards no request is refused: no slot, no wait and no connection is occupied.
  const answers = readers.map((reader) => wait(reader));
  await expect.poll(waiting).toBe(readers.length);
  await Promise.all(answers);
});
