import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, test, vi } from 'vitest';
import { allBlocks, examples, fullRows, inboxRows, rows, runBlocks } from '../support/newcomer-rows.ts';
import { acceptedOnce, processedOnceBy, startNewcomer, type Newcomer } from '../support/newcomer.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

// It builds, packs and installs, so the timeouts only guard against hanging.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

let newcomer: Newcomer;

beforeAll(async () => {
  newcomer = await startNewcomer();
});

afterAll(() => newcomer.close());

test('each example has the packages and the start command of its row', async ({ expect }) => {
  expect(rows.map(({ framework }) => framework)).toEqual([...Object.keys(examples), 'Node with PostgreSQL']);
  const found = await Promise.all(
    Object.values(examples).map(async (example) => {
      const path = join(workspaceRoot, 'examples', example, 'package.json');
      const { dependencies, devDependencies, scripts } = JSON.parse(await readFile(path, 'utf8'));
      return { packages: Object.keys({ ...dependencies, ...devDependencies }).toSorted(), start: scripts.start };
    }),
  );
  const expected = rows.slice(0, -1).map(({ packages, start }) => ({
    packages: ['@deedwire/webhook-receiver', ...packages].toSorted(),
    start: start.replaceAll('npx ', ''),
  }));
  expect(found).toEqual(expected);
});

test('every block of the README is run', ({ expect }) => {
  expect(allBlocks.filter((block) => !runBlocks.has(block))).toEqual([]);
});

// Concurrent, because each waits for the retry of a delivery.
test.concurrent.for(fullRows)(
  'a pasted block receives, verifies and processes a delivery once: $framework',
  async (row, { expect, onTestFinished }) => {
    expect(await newcomer.paste(row, onTestFinished)).toEqual(processedOnceBy(row));
  },
);

test.concurrent.for(inboxRows.slice(0, 1))(
  'a pasted block accepts a delivery, its job processes it once, and the inbox of version 1 is moved: $framework',
  async (row, { expect, onTestFinished }) => {
    const printed = '1 deliveries have jobs now.\n0 processed deliveries were moved.\n';
    expect(await newcomer.paste(row, onTestFinished)).toEqual({ ...acceptedOnce, printed });
  },
);
