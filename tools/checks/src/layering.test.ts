import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readLayouts } from '@deedwire/layout';
import { describe, expect, test } from 'vitest';

const workspaceRoot = join(import.meta.dirname, '../../..');
// One of each interface.
const schemas = globSync('*-schema', { cwd: join(workspaceRoot, 'packages') });
const apis = globSync('*-api', { cwd: join(workspaceRoot, 'apps') });
const layouts = await readLayouts();
const services = layouts.map(({ root }) => basename(root));
/** The published packages of their payloads. */
const payloads = layouts.flatMap((layout) => (layout.payloads === null ? [] : [basename(layout.payloads)]));
const [deployed = ''] = services;
const contracts = [...schemas, ...payloads, 'webhook-signing'];
const layer0 = [...contracts, 'core', 'contract-check', 'operation-analysis'];
const layer1 = ['append', 'auth', 'store', 'webhook-diagnosis', 'webhook-receiver', 'webhook-sender'];
const layer2 = ['service-runtime', 'webhooks'];
const layers0to3 = [...layer0, ...layer1, ...layer2, 'actions', 'webhook-rendering'];
const layers0to4 = [...layers0to3, 'graphql-server', 'operator', 'worker'];
const apps = [...apis, 'webhook-worker', 'operator-cli'];
const everything = [
  ...layers0to4,
  'development',
  'service',
  'webhook-contract',
  ...services,
  ...apps,
  'checks',
  'contract-tests',
  'dev-environment',
  'embedded-postgres',
  'generate',
  'layout',
  'release',
  'testing',
];

/** What an application imports. That of the platform's tests also serves its interfaces. */
const applicationImports = ['actions', 'core', 'operator', 'store', 'webhooks'];

/** The packages of this workspace that each package may import. A new package needs a row: there is no default. */
const mayImport: Record<string, readonly string[]> = {
  // Layer 0
  ...Object.fromEntries(schemas.map((name) => [name, []])),
  ...Object.fromEntries(payloads.map((name) => [name, []])),
  'webhook-contract': [],
  'webhook-signing': [],
  core: [],
  'contract-check': [],
  'operation-analysis': [],
  // For development and tests: nothing that is deployed loads it.
  'embedded-postgres': [],
  // For tests only: no package below layer 7 lists it among its runtime dependencies.
  testing: [],
  // Layer 1
  append: ['core'],
  auth: ['core'],
  store: ['core'],
  'webhook-diagnosis': ['webhook-signing'],
  'webhook-receiver': ['webhook-signing'],
  'webhook-sender': ['webhook-signing'],
  // Layer 2
  // The pages, which a browser runs.
  portal: ['core', 'webhook-diagnosis'],
  'service-runtime': ['auth', 'core', 'store'],
  webhooks: ['core', 'store', 'webhook-sender'],
  // Layer 3
  actions: ['webhook-signing', 'core', 'auth', 'store', 'webhook-sender', 'webhooks'],
  'webhook-rendering': ['core', 'webhooks'],
  // Layer 4
  'graphql-server': [...layers0to3, 'portal'],
  operator: [...layers0to3],
  // `actions` for mails, which is loaded only if they are on.
  worker: ['actions', 'core', 'service-runtime', 'store', 'webhook-rendering', 'webhook-sender', 'webhooks'],
  // What the development commands share.
  development: ['actions', 'auth', 'core', 'embedded-postgres', 'store', 'webhook-signing'],
  // The published package, which has the platform in it.
  service: [
    'actions',
    'append',
    'core',
    'development',
    'embedded-postgres',
    'graphql-server',
    'operator',
    'service-runtime',
    'store',
    'webhook-contract',
    'webhook-rendering',
    'webhook-signing',
    'worker',
  ],
  // Layer 5
  ...Object.fromEntries(services.map((name) => [name, [...applicationImports, ...payloads]])),
  // Layer 6
  ...Object.fromEntries(apis.map((name) => [name, [...layers0to4, ...services]])),
  'webhook-worker': ['core', deployed, 'service-runtime', 'webhook-rendering', 'worker'],
  'operator-cli': [...layers0to4, deployed],
  // Layer 7
  checks: everything,
  'contract-tests': everything,
  'dev-environment': everything,
  generate: everything,
  layout: ['core'],
  release: everything,
  // The application of the platform's tests.
  'test-service': [...layers0to4, ...apps],
  // The examples of applications.
  clinic: ['service'],
  orders: ['service', 'webhook-signing'],
};

/** What the build of a package bundles. These are devDependencies. */
const bundled: Record<string, readonly string[]> = {
  portal: ['core', 'webhook-diagnosis'],
  'webhook-receiver': ['webhook-diagnosis', 'webhook-sender'],
};

/** What is in a published package besides what it imports. These are dependencies, so that a new version of them releases the package. */
const copied: Record<string, readonly string[]> = {
  service: ['auth', 'operation-analysis', 'portal', 'webhook-diagnosis', 'webhook-sender', 'webhooks'],
};

/**
 * The parts of `store` that each package imports, as subpaths; '.' is the connection itself. A package holds the statements of
 * its own work only: no API can fan out events, and the worker cannot read credentials.
 */
const storeParts: Record<string, readonly string[]> = {
  actions: [
    '.',
    'accounts',
    'audit',
    'cell-splits',
    'contact-emails',
    'copies',
    'credentials',
    'environment',
    'foreign-rows',
    'idempotency',
    'person-erasures',
    'person-registry',
    'portal-sessions',
    'processes',
    'restored-database',
    'time',
  ],
  [deployed]: ['.', 'accounts'],
  'graphql-server': ['.', 'cost-buckets', 'processes'],
  operator: ['.'],
  development: ['.'],
  service: ['.'],
  'service-runtime': ['.', 'processes'],
  webhooks: ['.', 'time'],
  worker: ['.', 'contact-mails', 'housekeeping', 'listener', 'time'],
  'dev-environment': ['.'],
  'test-service': ['.'],
};

/** What the files of a folder of `actions` may import besides each other. */
const actionFolders: Record<string, readonly string[]> = {
  kernel: [],
  webhooks: ['kernel'],
  accounts: ['kernel', 'webhooks'],
  subscriptions: ['kernel', 'webhooks', 'accounts'],
  deliveries: ['kernel', 'webhooks', 'accounts', 'subscriptions'],
  persons: ['kernel', 'webhooks', 'accounts'],
  database: ['kernel', 'webhooks', 'persons'],
  restored: ['kernel', 'webhooks', 'accounts', 'subscriptions', 'deliveries', 'persons', 'database'],
};

/** What the files of a folder of `store` may import besides each other. */
const storeFolders: Record<string, readonly string[]> = {
  kernel: [],
  connections: ['kernel'],
  statements: ['kernel', 'connections'],
  notifications: ['connections', 'statements'],
  transactions: ['kernel', 'connections', 'statements', 'notifications'],
  accounts: ['statements', 'transactions'],
  persons: ['kernel', 'connections', 'statements'],
  migrations: ['kernel', 'connections', 'statements'],
  processes: ['statements', 'migrations'],
  copies: ['statements'],
  cells: ['kernel', 'connections', 'statements'],
  checks: ['kernel', 'connections', 'statements', 'transactions', 'migrations'],
};

/** What the files of a folder of `webhooks` may import besides each other and `events.ts`. `engine.ts` connects the folders. */
const webhookFolders: Record<string, readonly string[]> = {
  kernel: [],
  fence: ['kernel'],
  outbox: ['kernel'],
  subscriptions: ['kernel', 'fence', 'outbox'],
  dispatch: ['kernel', 'fence'],
  'fan-out': ['kernel', 'fence', 'subscriptions'],
  workers: ['kernel', 'fence'],
  replay: ['kernel', 'fence'],
  retention: ['kernel'],
  exchanges: ['kernel'],
  statistics: ['kernel', 'fence'],
};

interface WorkspacePackage {
  name: string;
  path: string;
  manifest: Record<
    'dependencies' | 'devDependencies' | 'peerDependencies' | 'optionalDependencies',
    Record<string, string>
  >;
}

const ours = '@deedwire/';

const packages: WorkspacePackage[] = globSync(
  ['{packages,apps,tools}/*/package.json', 'examples/{clinic,orders}/package.json'],
  { cwd: workspaceRoot },
).map((manifestPath) => {
  const path = join(workspaceRoot, dirname(manifestPath));
  return { name: basename(path), path, manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) };
});

function oursAmong(dependencies: Record<string, string> = {}): string[] {
  return Object.keys(dependencies)
    .filter((name) => name.startsWith(ours))
    .map((name) => name.slice(ours.length));
}

/** The packages of this workspace that the files import, in any form of import, or resolve. */
function importsOf(path: string, files: readonly string[]): string[] {
  const names = files.flatMap((file) =>
    [
      ...readFileSync(join(path, file), 'utf8').matchAll(
        /(?:from|import|import\(|resolve\()\s*['"]@deedwire\/([a-z-]+)/g,
      ),
    ].map((match) => match[1] ?? ''),
  );
  return [...new Set(names)].toSorted();
}

function sourcesOf(path: string): string[] {
  return globSync('{deedwire,src}/**/*.{ts,tsx}', { cwd: path }).filter((file) => !file.endsWith('.test.ts'));
}

/** The subpaths of `store` that the sources import. */
function storePartsOf(path: string): string[] {
  const parts = sourcesOf(path).flatMap((file) =>
    [...readFileSync(join(path, file), 'utf8').matchAll(/['"]@deedwire\/store(?:\/([a-z/-]+))?['"]/g)].map(
      (match) => match[1] ?? '.',
    ),
  );
  return [...new Set(parts)].toSorted();
}

function testsOf(path: string): string[] {
  return globSync(['src/**/*.test.ts', 'test/**/*.ts'], { cwd: path });
}

test('the table has one row for each package', () => {
  expect(packages.map(({ name }) => name).toSorted()).toEqual(Object.keys(mayImport).toSorted());
});

test('no package of the platform imports the application or what it publishes', () => {
  const platform = packages.filter(
    ({ name, path }) => !services.includes(name) && /[/\\]packages[/\\][\w-]+$/.test(path),
  );
  expect(platform.length).toBeGreaterThan(15);
  const applications = [...services, ...payloads];
  const imports = platform.filter(({ path }) =>
    importsOf(path, sourcesOf(path)).some((each) => applications.includes(each)),
  );
  expect(imports.map(({ name }) => name)).toEqual([]);
});

describe.each(packages)('$name', ({ name, path, manifest }) => {
  const allowed = [...(mayImport[name] ?? []), ...(copied[name] ?? [])];
  const runtime = [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies].flatMap(oursAmong);

  test('depends only on packages that the table allows', () => {
    expect(runtime.filter((dependency) => !allowed.includes(dependency))).toEqual([]);
  });

  test('declares exactly the packages that it imports', () => {
    const needed = [...importsOf(path, sourcesOf(path)), ...(copied[name] ?? [])];
    expect(needed.toSorted()).toEqual([...runtime, ...(bundled[name] ?? [])].toSorted());
  });

  test('its tests import only declared packages', () => {
    const declared = [name, ...runtime, ...oursAmong(manifest.devDependencies)];
    expect(importsOf(path, testsOf(path)).filter((dependency) => !declared.includes(dependency))).toEqual([]);
  });
});

test('only one file opens connections to PostgreSQL, so that none can miss the checks of TLS and passwords', () => {
  const opening = /import (?:\{[^}]*(?<!type )\b(?:Client|Pool)\b[^}]*\}|\w+|\* as \w+) from 'pg'/;
  const files = globSync('{packages,apps}/*/src/**/*.ts', { cwd: workspaceRoot }).filter((file) =>
    opening.test(readFileSync(join(workspaceRoot, file), 'utf8')),
  );
  expect(files).toEqual(['packages/store/src/connections/connect.ts']);
});

describe('the parts of store', () => {
  const storePackage = packages.find(({ name }) => name === 'store');

  test.each(packages)('$name imports exactly the parts that the table lists', ({ name, path }) => {
    expect(storePartsOf(path)).toEqual((storeParts[name] ?? []).toSorted());
  });

  test('the table lists every part', () => {
    const { exports } = JSON.parse(readFileSync(join(storePackage?.path ?? '', 'package.json'), 'utf8'));
    const exported = Object.keys(exports)
      .map((part) => part.replace('./', ''))
      .filter((part) => part !== 'test-support');
    expect([...new Set(Object.values(storeParts).flat())].toSorted()).toEqual(exported.toSorted());
  });
});

test.each([
  ...Object.entries(actionFolders).map(([folder, others]) => ['actions', folder, others] as const),
  ...Object.entries(storeFolders).map(([folder, others]) => ['store', folder, others] as const),
  ...Object.entries(webhookFolders).map(([folder, others]) => ['webhooks', folder, others] as const),
])('%s/src/%s imports only what it may', (name, folder, others) => {
  const root = join(workspaceRoot, 'packages', name);
  const files = sourcesOf(root).filter((file) => file.startsWith(`src/${folder}/`));
  expect(files).not.toEqual([]);
  const imports = files.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, path = '']) => ({
      file,
      target: join(dirname(file), path),
    })),
  );
  const allowed = ['src/events.ts', ...[folder, ...others].map((each) => `src/${each}/`)];
  expect(imports.filter(({ target }) => !allowed.some((each) => target.startsWith(each)))).toEqual([]);
});
