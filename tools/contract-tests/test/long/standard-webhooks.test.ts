import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectedVerdicts, java, lacks, rust, verdictsOf } from '../support/standard-webhooks.ts';

// The toolchains are large. `full/other-languages.test.ts` does the same with Python and Go.
const timeout = 600_000;

let t: TestSystem;

beforeAll(async () => {
  t = await startTestSystem();
});

afterAll(() => t.close());

for (const program of [rust, java])
  test.skipIf(lacks(program.tools))(
    `the library of Standard Webhooks for ${program.name} accepts a delivery and rejects altered ones`,
    { timeout },
    async () => expect(await verdictsOf(program, t)).toEqual(expectedVerdicts),
  );
