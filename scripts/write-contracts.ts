/**
 * Part of the `build` script of the apps. Writes what the compiled app in the current folder can do to `dist/contracts.json`, from
 * the modules that serve and render. The commit is null: a cached build is that of an earlier one, so packing sets it.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

interface Versioned {
  readonly version: string;
}
interface EventVersion extends Versioned {
  readonly type: string;
}
/** What `src/contracts.ts` of an app exports. */
interface AppContracts {
  readonly serves?: readonly (Versioned & { readonly interface: string })[];
  readonly pins?: readonly EventVersion[];
  readonly appends?: readonly object[];
  readonly renders?: readonly EventVersion[];
}

const packages = join(import.meta.dirname, '../packages');

/** The published file of a contract, as `contract-check uses` names it, and the day of its deprecation. */
function publishedFile(name: string, file: string, ...keys: string[]) {
  const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8'));
  const sha256 = createHash('sha256')
    .update(readFileSync(join(packages, name, file)))
    .digest('hex');
  const states = JSON.parse(readFileSync(join(packages, name, 'versions.json'), 'utf8'));
  const { deprecatedOn } = keys.reduce((state, key) => state[key], states);
  return { package: manifest.name, packageVersion: manifest.version, file, sha256, deprecatedOn };
}

function withSchema({ type, version, ...rest }: EventVersion) {
  return {
    event: `${type}@${version}`,
    ...publishedFile('webhook-events', `json-schema/${type}/${version}.json`, type, version),
    ...rest,
  };
}

const { contracts }: { contracts: AppContracts } = await import(pathToFileURL(resolve('dist/contracts.js')).href);
const { serves = [], pins = [], appends = [], renders = [] } = contracts;
const { name, version }: { name: string; version: string } = JSON.parse(readFileSync('package.json', 'utf8'));
const migrations = readdirSync(join(packages, 'store/migrations')).filter((file) => file.endsWith('.sql'));
const written = {
  formatVersion: 1,
  app: name.replace('@deedwire/', ''),
  version,
  commit: null,
  // Without the last one, the app does not become ready.
  migration: migrations
    .toSorted()
    .at(-1)
    ?.replace(/\.sql$/, ''),
  serves: serves.map((served) => ({
    ...served,
    ...publishedFile(`${served.interface}-schema`, `versions/${served.version}.graphql`, served.version),
    // For `contract-check can-i-deploy`, which has no registry.
    sdl: readFileSync(join(packages, `${served.interface}-schema/versions/${served.version}.graphql`), 'utf8'),
  })),
  pins: pins.map(withSchema),
  appends,
  renders: renders.map(withSchema),
};
writeFileSync('dist/contracts.json', `${JSON.stringify(written, null, 2)}\n`);
