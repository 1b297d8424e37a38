import { afterAll, beforeAll, beforeEach, describe, vi } from 'vitest';
import { type BuiltPackages, installBuiltPackages } from '../support/built-packages.ts';
import { testConformance } from '../support/conformance-suite.ts';
import { bun, bundleServer, deno, installRuntimes, runtimeAdapter, workerd } from '../support/runtimes.ts';

const server = { folder: '', code: '' };
let built: BuiltPackages;
let installed: boolean;

// The timeout guards against hanging: a slow connection takes minutes for the runtimes.
beforeAll(async () => {
  [built, installed] = await Promise.all([
    installBuiltPackages(['webhook-contract']),
    installRuntimes([workerd, deno, bun]),
  ]);
  server.folder = built.folder;
  server.code = await bundleServer(built.folder);
}, 900_000);

beforeEach(({ skip }) => skip(!installed, 'The runtimes are not installed.'));

afterAll(() => built.remove());

const fetchFix = 'Pass the request before anything reads its body';
const honoFix = 'Let no middleware read the body of its route';

// Most cases wait.
vi.setConfig({ maxConcurrency: 20 });

describe.concurrent.each([
  { runtime: workerd, app: 'workers', fix: fetchFix },
  { runtime: workerd, app: 'hono', fix: honoFix },
  { runtime: deno, app: 'fetch', fix: fetchFix },
  { runtime: bun, app: 'fetch', fix: fetchFix },
] as const)('$runtime.name, $app', ({ runtime, app, fix }) => {
  const adapter = runtimeAdapter(runtime, app, fix, server);
  afterAll(() => adapter.stop());
  testConformance(adapter);
});
