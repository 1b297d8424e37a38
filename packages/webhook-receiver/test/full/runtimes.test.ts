import { afterAll, beforeAll, describe } from 'vitest';
import { type BuiltPackages, installBuiltPackages } from '../support/built-packages.ts';
import { testConformance } from '../support/conformance-suite.ts';
import { bun, bundleServer, deno, runtimeAdapter, workerd } from '../support/runtimes.ts';

// Under CI, a missing runtime is a failure.
const isCi = process.env['CI'] === 'true';
const server = { folder: '', code: '' };
let built: BuiltPackages;

beforeAll(async () => {
  built = await installBuiltPackages();
  server.folder = built.folder;
  server.code = await bundleServer(built.folder);
});

afterAll(() => built.remove());

const fetchFix = 'Pass the request before anything reads its body';
const honoFix = 'Let no middleware read the body of its route';
const suites = [
  { runtime: workerd, app: 'workers', fix: fetchFix },
  { runtime: workerd, app: 'hono', fix: honoFix },
  { runtime: deno, app: 'fetch', fix: fetchFix },
  { runtime: bun, app: 'fetch', fix: fetchFix },
] as const;

for (const { runtime, app, fix } of suites) {
  const skipped = runtime.binary === null && !isCi;
  if (skipped)
    process.stdout.write(`webhook-receiver: skipping ${runtime.name}, which has no binary for this platform\n`);
  describe.skipIf(skipped)(`${runtime.name}, ${app}`, () => {
    testConformance(runtimeAdapter(runtime, app, fix, server));
  });
}
