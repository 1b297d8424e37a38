import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** Imports a module in its own process, and prints the URLs of what it loads, and which of Node's own modules are loaded. */
const script = (module: string): string => `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({
    load(url, context, nextLoad) {
      loaded.push(url);
      return nextLoad(url, context);
    },
  });
  await import(${JSON.stringify(module)});
  console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

/** It takes 14 MB of memory in every process. */
const fetchOfNode = /\/undici\/(?:index\.js|lib\/web\/)|internal\/deps\/undici/;

async function loadedBy(file: string): Promise<string[]> {
  const module = new URL(`../../../apps/${file}`, import.meta.url).href;
  const args = ['--conditions=deedwire-source', '--input-type=module', '--eval', script(module)];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24 });
  return JSON.parse(stdout);
}

// Each interface loads the same packages.
test.each(['lender-api/src/lender-interface.ts', 'webhook-worker/src/worker.ts'])(
  'apps/%s does not load the fetch of Node, which it does not use',
  async (file) => {
    const loaded = await loadedBy(file);
    expect(loaded.some((name) => name.includes('/undici/lib/dispatcher/client.js'))).toBe(true);
    expect(loaded.filter((name) => fetchOfNode.test(name))).toEqual([]);
  },
);

const shared = ['auth', 'domain', 'service-runtime', 'store', 'webhook-sender', 'webhook-signing', 'webhooks'];
const application = ['firm', 'webhook-events'];
const ofInterfaces = [
  'actions',
  'graphql-server',
  'operation-analysis',
  'webhook-rendering',
  ...application,
  ...shared,
];

test.each([
  ['lender-api/src/lender-interface.ts', ['lender-api', 'lender-schema', ...ofInterfaces]],
  ['partner-api/src/partner-interface.ts', ['partner-api', 'partner-schema', ...ofInterfaces]],
  // `start.ts` passes it the application.
  ['webhook-worker/src/start-worker.ts', ['webhook-worker', 'webhook-rendering', ...shared]],
  ['operator-cli/src/run-operator.ts', ['operator-cli', 'actions', 'webhook-diagnosis', ...application, ...shared]],
])('apps/%s loads only these packages of the workspace', async (file, packages) => {
  const loaded = await loadedBy(file);
  const found = loaded.flatMap((url) => /\/(?:apps|packages)\/([a-z-]+)\/src\//.exec(url)?.[1] ?? []);
  expect([...new Set(found)].toSorted()).toEqual(packages.toSorted());
});
