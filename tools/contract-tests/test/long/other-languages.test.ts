import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedVerdicts, java, lacks, python, rust, verdictsOf } from '../support/standard-webhooks.ts';

let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

for (const program of [python, rust, java])
  test.skipIf(lacks(program.tools))(
    `the library of Standard Webhooks for ${program.name} accepts a delivery and rejects altered ones`,
    async () => expect(await verdictsOf(program, t)).toEqual(expectedVerdicts),
  );
