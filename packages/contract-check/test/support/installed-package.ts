import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command, type CommandResult } from './packed-package.ts';

/** A subgraph, which applies the directives of a framework that it does not define. */
const oldSdl = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])

type Query {
  product(id: ID!): Product
}

type Product @key(fields: "id") {
  id: ID!
  name: String! @shareable
  price: Int
}
`;
const newSdl = oldSdl.replace('  name: String! @shareable\n', '  name: String @shareable\n  weight: Float\n');
const require = createRequire(import.meta.url);
/** The JSON Schemas of two drafts of JSON Schema, which another project published. */
const drafts = ['06', '07'].map((draft) => require.resolve(`ajv/dist/refs/json-schema-draft-${draft}.json`));

export function folderWithContracts(parent: string): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'contracts-'));
  writeFileSync(join(folder, 'old.graphql'), oldSdl);
  writeFileSync(join(folder, 'new.graphql'), newSdl);
  for (const [i, draft] of drafts.entries()) writeFileSync(join(folder, `${i}.json`), readFileSync(draft));
  writeFileSync(join(folder, 'old.manifest.json'), '{ "limits": { "depth": 10 } }');
  writeFileSync(join(folder, 'new.manifest.json'), '{ "limits": { "depth": 20 } }');
  return folder;
}

/** Compares the SDL of `folderWithContracts`. */
export const graphql = ['graphql', '--from', 'old.graphql', '--to', 'new.graphql'];

/** Runs the installed command as a process. */
export function runInstalled(project: string, folder: string, ...args: readonly string[]): CommandResult {
  return command(process.execPath, [join(project, 'node_modules/.bin/contract-check'), ...args], folder, {}, oldSdl);
}

/**
 * Tests what only the installed package shows: that it contains the files which its code reads, and that its command and its
 * exports work. The tests of the sources cover the results.
 *
 * @param projectOf returns the folder in which npm installed the package
 */
export function testInstalledPackage(projectOf: () => string): void {
  const inFolder = (): ((...args: string[]) => CommandResult) => {
    const folder = folderWithContracts(join(projectOf(), 'consumer'));
    return (...args) => runInstalled(projectOf(), folder, ...args);
  };

  test('compares every kind of contract', () => {
    const check = inFolder();
    const verdictOf = (...args: string[]): unknown => JSON.parse(check(...args, '--format', 'json').stdout).verdict;
    expect(verdictOf('graphql', '--from', '-', '--to', 'new.graphql')).toBe('major');
    expect(verdictOf('json-schema', '--from', '0.json', '--to', '1.json', '--direction', 'both')).toBe('major');
    expect(verdictOf('manifest', '--from', 'old.manifest.json', '--to', 'new.manifest.json')).toBe('minor');
  });

  test('exits with 0, 1 or 2, and prints errors as one line', () => {
    const check = inFolder();
    expect(check(...graphql, '--declared', 'major').status).toBe(0);
    expect(check(...graphql, '--declared', 'minor')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('  major  Product.name\n         The type changed from String! to String.'),
      stderr: '',
    });
    expect(check('graphql', '--from', 'lost.graphql', '--to', 'new.graphql')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: 'lost.graphql: file not found\n',
    });
  });

  test('writes what a consumer uses', () => {
    const folder = folderWithContracts(join(projectOf(), 'consumer'));
    writeFileSync(join(folder, 'product.graphql'), 'query Product { product(id: 1) { name } }');
    const args = ['--consumer', 'shop', '--schema', 'old.graphql', '--documents', '*product.graphql'];
    const { coordinates } = JSON.parse(runInstalled(projectOf(), folder, 'uses', ...args).stdout);
    expect(coordinates).toEqual({ 'Product.name': 'String!', 'Query.product': 'Product', 'Query.product(id:)': 'ID!' });
  });

  test('explains a rule with an example', () => {
    expect(inFolder()('explain', 'graphql/fieldRemoved')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('## Examples\n\n### '),
    });
  });

  test('exports the functions', () => {
    const file = join(folderWithContracts(join(projectOf(), 'consumer')), 'use.mjs');
    writeFileSync(
      file,
      `import { compareGraphql } from '@deedwire/contract-check';
       const sdl = (text) => ({ file: 'a.graphql', text });
       console.log(compareGraphql(sdl('type Query { a: Int }'), sdl('type Query { a: Int! }')).verdict);`,
    );
    expect(command(process.execPath, [file], projectOf()).stdout).toBe('minor\n');
  });

  test('packs the expected files without settings of the workspace', () => {
    const installed = join(projectOf(), 'node_modules/@deedwire/contract-check');
    const names = readdirSync(installed).filter((name) => name !== 'node_modules');
    expect(names.toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'api',
      'config.schema.json',
      'dist',
      'docs',
      'environment.schema.json',
      'manifest.schema.json',
      'package.json',
      'rule-ids.json',
    ]);
    expect(readFileSync(join(installed, 'package.json'), 'utf8')).not.toMatch(/deedwire-source|catalog:|workspace:/);
    expect(
      readdirSync(join(installed, 'dist'), { recursive: true }).some((name) => String(name).includes('.test.')),
    ).toBe(false);
  });
}
