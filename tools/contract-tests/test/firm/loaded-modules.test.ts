import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
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
  process.stdout.write('\\n' + JSON.stringify([...loaded, ...process.moduleLoadList]), () => process.exit(0));
`;

/** It takes 14 MB of memory in every process. */
const fetchOfNode = /\/undici\/(?:index\.js|lib\/web\/)|internal\/deps\/undici/;

// An app starts without its database.
const env = {
  ...process.env,
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  PORT: '0',
  ADMIN_PORT: '0',
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere',
  WEBHOOK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
};

async function loadedBy(file: string, ...commandArguments: string[]): Promise<string[]> {
  const module = new URL(`../../../../${file}`, import.meta.url).href;
  const args = ['--conditions=deedwire-source', '--input-type=module', '--eval', script(module), '--', file];
  const { stdout } = await run(process.execPath, [...args, ...commandArguments], { maxBuffer: 2 ** 24, env });
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n')));
}

// Each interface loads the same packages.
test.each(['apps/lender-api/src/lender-interface.ts', 'packages/worker/src/worker.ts'])(
  '%s does not load the fetch of Node, which it does not use',
  async (file) => {
    const loaded = await loadedBy(file);
    expect(loaded.some((name) => name.includes('/undici/lib/dispatcher/client.js'))).toBe(true);
    expect(loaded.filter((name) => fetchOfNode.test(name))).toEqual([]);
  },
);

const shared = ['auth', 'core', 'service-runtime', 'store', 'webhook-sender', 'webhook-signing', 'webhooks'];
const application = ['firm', 'webhook-events'];
const ofInterfaces = [
  'actions',
  'graphql-server',
  'operation-analysis',
  'webhook-rendering',
  ...application,
  ...shared,
];

/** Of the command line. */
const commands = /\/(?:commands\/|[a-z-]*commands\.ts)/;

test.each([
  ['lender-api', false, ['lender-schema', ...ofInterfaces]],
  ['partner-api', false, ['partner-schema', ...ofInterfaces]],
  ['webhook-worker', false, ['webhook-rendering', 'worker', ...application, ...shared]],
  ['operator-cli', true, ['operator', 'actions', 'webhook-diagnosis', ...application, ...shared]],
])(
  'the process of apps/%s loads commands: %s, and only these packages of the workspace',
  async (app, loadsCommands, packages) => {
    const loaded = (await loadedBy(`apps/${app}/src/start.ts`, '--help')).filter((url) =>
      /\/(?:apps|packages)\/[a-z-]+\/src\//.test(url),
    );
    const found = loaded.map((url) => /(?:apps|packages)\/([a-z-]+)\/src\//.exec(url)?.[1] ?? '');
    expect([...new Set(found)].toSorted()).toEqual([app, ...packages].toSorted());
    expect(loaded.some((url) => commands.test(url))).toBe(loadsCommands);
  },
);
