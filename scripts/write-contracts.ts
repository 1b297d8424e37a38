/**
 * Part of the `build` script of the apps. Writes what the compiled app in the current folder can do to `dist/contracts.json`, from
 * the modules that serve and render. The commit is null: a cached build is that of an earlier one, so packing sets it.
 */
import { hash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readDefaultLayout } from '../tools/layout/src/layout.ts';

interface Version {
  readonly version: string;
  /** Of an event. */
  readonly type?: string;
  readonly needs?: object;
}
/** What `src/contracts.ts` of an app exports. */
interface AppContracts {
  readonly serves?: { readonly interfaceName: string; readonly contract: { readonly versions: readonly Version[] } };
  readonly pins?: readonly Version[];
  readonly appends?: readonly object[];
  readonly renders?: readonly Version[];
}

const workspace = join(import.meta.dirname, '..');
const read = (...path: string[]): string => readFileSync(join(workspace, ...path), 'utf8');
const { payloads, contractOf } = await readDefaultLayout();

/** The published file of a contract, as `contract-check uses` names it, and the days of its deprecation and its sunset. */
function published(folder: string, file: string, ...keys: string[]) {
  const manifest = JSON.parse(read(folder, 'package.json'));
  const states = JSON.parse(read(folder, 'versions.json'));
  const { deprecatedOn, sunsetOn } = keys.reduce((state, key) => state[key], states);
  const sha256 = hash('sha256', read(folder, file));
  return { package: manifest.name, packageVersion: manifest.version, file, sha256, deprecatedOn, sunsetOn };
}

/** Without its file where the service publishes no payloads. */
function eventVersion({ type = '', version, ...rest }: Version) {
  const file = payloads === null ? {} : published(payloads, `json-schema/${type}/${version}.json`, type, version);
  return { event: `${type}@${version}`, ...file, ...rest };
}

const { contracts }: { contracts: AppContracts } = await import(pathToFileURL(resolve('dist/contracts.js')).href);
const { serves, pins = [], appends = [], renders = [] } = contracts;
const { name, version: appVersion }: Record<string, string> = JSON.parse(readFileSync('package.json', 'utf8'));
const migrationsFolder = 'packages/store/migrations';
const migrations = readdirSync(join(workspace, migrationsFolder)).filter(
  // Older databases never get a baseline.
  (file) => file.endsWith('.sql') && !read(migrationsFolder, file).startsWith('-- replaces all before it\n'),
);
const written = {
  formatVersion: 1,
  app: name?.replace('@deedwire/', ''),
  version: appVersion,
  commit: null,
  // Without the last one, the app does not become ready.
  migration: migrations.toSorted().at(-1)?.replace('.sql', ''),
  serves:
    serves?.contract.versions.map(({ version }) => {
      const [folder, file] = [contractOf(serves.interfaceName), `versions/${version}.graphql`] as const;
      // The SDL is for `contract-check can-i-deploy`, which has no registry.
      return { interface: serves.interfaceName, version, ...published(folder, file, version), sdl: read(folder, file) };
    }) ?? [],
  pins: pins.map(eventVersion),
  appends,
  renders: renders.map(eventVersion),
};
writeFileSync('dist/contracts.json', `${JSON.stringify(written, null, 2)}\n`);
