import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

/** The Node that the scripts run on. Four files name it. */
const scriptsNode = '26.10.0';
/** undici 8 needs it. Apps, the operator CLI and the scripts depend on undici or run beside it. */
const appsNode = '>=22.19';
const publishedPackagesNode = '>=20';
const otherNodes = new Map([
  // A test of the package computes it from its dependencies. It runs in builds only, not in the processes of consumers.
  ['@deedwire/contract-check', '^22.12 || ^24 || >=26'],
  // It has the apps in it.
  ['@deedwire/service', appsNode],
]);

interface Manifest {
  name: string;
  private?: boolean;
  engines?: { node: string };
}

function read(path: string): string {
  return readFileSync(join(workspaceRoot, path), 'utf8');
}

function manifestsOf(pattern: string): Manifest[] {
  return globSync(pattern, { cwd: workspaceRoot }).map((path) => JSON.parse(read(path)));
}

test('.node-version, nodeVersion and the catalog name the same Node', () => {
  const workspace = read('pnpm-workspace.yaml');
  const named = [...workspace.matchAll(/^(?:nodeVersion| {2}node-(?:bin-)?(?:darwin|linux)-\w+): (.*)$/gm)].map(
    ([, version]) => version,
  );
  expect(named).toEqual(Array.from({ length: 5 }, () => scriptsNode));
  expect(read('.node-version')).toBe(`${scriptsNode}\n`);
});

test('the repository and the apps require the same Node', () => {
  const manifests = manifestsOf('{package.json,apps/*/package.json}');
  expect(manifests.map(({ name, engines }) => [name, engines?.node])).toEqual(
    manifests.map(({ name }) => [name, appsNode]),
  );
});

test('published packages require Node 20, contract-check what its dependencies require, and service what the apps require', () => {
  const published = manifestsOf('packages/*/package.json').filter((manifest) => manifest.private !== true);
  expect(published.map(({ name, engines }) => [name, engines?.node])).toEqual(
    published.map(({ name }) => [name, otherNodes.get(name) ?? publishedPackagesNode]),
  );
});
