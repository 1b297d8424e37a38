import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { createClient, eventually, type Receiver, startReceiver } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReferDocument } from '../../consumers/referral-portal/generated/2026-11-01.ts';
import { traceExecution } from '../support/execution-trace.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// One request creates a referral, and a subscription receives the event. The apps run in this process, so that one trace
// contains both. Breakpoints take long to set in a process that has loaded many other files, so this file needs a process of
// its own, which the project `full` gives it.

const page = readFileSync(join(workspaceRoot, 'docs/architecture.md'), 'utf8');
const requestPath = pathsUnder('A request');
const eventPath = pathsUnder('An event');
let harness: Harness;
let receiver: Receiver;
/** The files that ran, in order, until the delivery was recorded. */
let trace: string[] = [];

beforeAll(async () => {
  [harness, receiver] = await Promise.all([createHarness(), startReceiver()]);
  const { url } = await harness.startPartnerApi();
  // Without polling, only the notification leads from the request to the worker.
  await harness.startWorker({ POLL_INTERVAL_MS: 0 });
  await harness.subscribe(receiver.url, ['referral.created']);
  // After a first event, the worker is idle.
  await harness.refer(1);
  await untilDelivered(1);
  const client = createClient(`${url}/partners/graphql`, harness.accounts.partner.credential);
  const { paths, stop } = await traceExecution([...new Set([...requestPath, ...eventPath])]);
  const before = paths.length;
  await client.request(ReferDocument, { input: { clientName: 'Grace Hopper' } });
  await untilDelivered(2);
  stop();
  trace = paths.slice(before);
});

afterAll(async () => {
  await harness.close();
  await receiver.close();
});

async function untilDelivered(count: number): Promise<void> {
  await eventually(async () => {
    const statuses = (await harness.deliveries()).map(({ status }) => status);
    const delivered = statuses.filter((status) => status === 'DELIVERED');
    if (delivered.length !== count) throw new Error(`Expected ${count} recorded deliveries, found ${statuses.join()}.`);
  });
}

/** The paths with which the items of a numbered list of the page begin. */
function pathsUnder(heading: string): string[] {
  const [, section = ''] = page.split(`\n## ${heading}\n`);
  const [list = ''] = section.split('\n## ');
  return [...list.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, path = '']) => path);
}

/** The paths that ran after those before them in the list. */
function pathsInOrder(listed: readonly string[]): string[] {
  let from = 0;
  return listed.filter((path) => {
    const at = trace.indexOf(path, from);
    if (at === -1) return false;
    from = at;
    return true;
  });
}

test('a request passes the files that the page lists, in this order', () => {
  expect(requestPath).toHaveLength(22);
  expect(pathsInOrder(requestPath)).toEqual(requestPath);
});

test('an event passes the files that the page lists, in this order', () => {
  expect(eventPath).toHaveLength(16);
  expect(pathsInOrder(eventPath)).toEqual(eventPath);
});
