import { findProgram } from '@deedwire/testing';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { inboxRows, keptRow, longRows, redisRow } from '../support/newcomer-rows.ts';
import {
  acceptedOnce,
  keptOnce,
  processedOnce,
  processedOnceBy,
  startNewcomer,
  type Newcomer,
} from '../support/newcomer.ts';

// They install and compile at the same time.
vi.setConfig({ maxConcurrency: 2 });

let newcomer: Newcomer;

beforeAll(async () => {
  newcomer = await startNewcomer();
});

afterAll(() => newcomer.close());

test.concurrent.for(longRows)(
  'a pasted block receives, verifies and processes a delivery once: $framework',
  async (row, { expect, onTestFinished }) => {
    expect(await newcomer.paste(row, onTestFinished)).toEqual(processedOnceBy(row));
  },
);

test.concurrent.for(inboxRows.slice(1))(
  'a pasted block accepts a delivery, its job processes it once, and the inbox of version 1 is moved: $framework',
  async (row, { expect, onTestFinished }) => {
    const printed = '1 deliveries have jobs now.\n0 processed deliveries were moved.\n';
    expect(await newcomer.paste(row, onTestFinished)).toEqual({ ...acceptedOnce, printed });
  },
);

test.concurrent('the pasted block keeps an event without a handler, and processes it once with one', async ({
  expect,
  onTestFinished,
}) => {
  const printed = 'the id\n[{"processed":1,"failed":0},{"processed":0,"failed":0}]\n';
  expect(await newcomer.paste(keptRow, onTestFinished)).toEqual({ ...keptOnce, printed });
});

// Under CI, the test fails without Redis.
const isWithoutRedis = findProgram('redis-server') === undefined && process.env['CI'] !== 'true';

test
  .skipIf(isWithoutRedis)
  .concurrent('the pasted block for Redis processes a delivery once', async ({ expect, onTestFinished }) => {
    expect(await newcomer.paste(redisRow, onTestFinished)).toEqual(processedOnce);
  });
