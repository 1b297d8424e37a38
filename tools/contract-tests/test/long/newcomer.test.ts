import { afterAll, beforeAll, test, vi } from 'vitest';
import { longRows } from '../support/newcomer-rows.ts';
import { processedOnceBy, startNewcomer, type Newcomer } from '../support/newcomer.ts';

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
