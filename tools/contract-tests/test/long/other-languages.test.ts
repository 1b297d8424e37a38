import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedVerdicts, go, lacks, python, verdictsOf } from '../support/standard-webhooks.ts';

// Only the real sender and the tools of the languages show that a customer without the kit can receive.
let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

for (const program of [python, go])
  test.skipIf(lacks(program.tools))(
    `the library of Standard Webhooks for ${program.name} accepts a delivery and rejects altered ones`,
    async () => expect(await verdictsOf(program, t)).toEqual(expectedVerdicts),
  );
