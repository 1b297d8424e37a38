import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildSchema, introspectionFromSchema } from 'graphql';
import { beforeEach, expect, test } from 'vitest';
import { type Files, folderForTest, writeAllIn } from '../../test/support/folders.ts';
import { commitFirst, initRepository } from '../../test/support/git.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';
import { run } from '../cli/run.ts';

let root: string;
beforeEach(() => {
  root = folderForTest();
});

const write = (files: Files) => writeAllIn(root, files);
const find = () => run(['find', '--root', root]);
const sdl = 'type Query {\n  a: Int\n  b: Int\n}\n';
const schema = '{ "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object" }';
const subgraph = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key"])
type Query { product: Product }
type Product @key(fields: "id") { id: ID! }
`;

/** The configuration in an output. */
function printedConfiguration(stdout: string): string {
  return /^\{\n[\s\S]*?^\}$/m.exec(stdout)?.[0] ?? '';
}

test('finds the schemas of a foreign repository, and prints a configuration that compares them', async () => {
  write({
    'package.json': '{ "name": "shop", "private": true, "version": "0.0.0" }',
    '.gitignore': 'node_modules\n/generated\n',
    'node_modules/other/schema.graphql': sdl,
    'generated/schema.graphql': sdl,
    '.hidden/schema.graphql': sdl,
    'client/query.graphql': 'query A { a }',
    'tsconfig.json': '{ "$schema": "https://json.schemastore.org/tsconfig", "type": "object" }',
    'events/order/placed.json': schema,
    'events/paid.json': schema,
    'settings.schema.json': '{ "properties": {} }',
    'services/api/package.json': '{ "name": "@shop/api", "version": "1.4.0" }',
    'services/api/schema.graphql': sdl,
    'services/api/introspection.json': JSON.stringify({ data: introspectionFromSchema(buildSchema(sdl)) }),
    'services/products/package.json': '{ "name": "@shop/products" }',
    'services/products/subgraph.graphql': subgraph,
    'services/orders/package.json': '{ "name": "@shop/orders", "version": "2.0.0" }',
    'services/orders/schema/query.gql': 'type Query { order: Order }',
    'services/orders/schema/order.gql': 'type Order { id: ID! }',
    'broken.graphql': 'type Query {\n',
  });
  commitFirst(root);
  const output = await runInFolder(root, []);
  expect(output).toMatchInlineSnapshot(`
    "Found:

      JSON Schema of shop 0.0.0, 3 files
        events/**/*.json
        settings.schema.json
      GraphQL schema of @shop/api 1.4.0, 2 files
        services/api/introspection.json
        services/api/schema.graphql
      GraphQL, a part of @shop/products, 1 file
        services/products/subgraph.graphql
      GraphQL, a part of @shop/orders 2.0.0, 2 files
        services/orders/schema/*.gql

    To compare them with the latest release of their packages, save this as contract-check.json, or run find --write:

    {
      "$schema": "./node_modules/@deedwire/contract-check/config.schema.json",
      "contracts": [
        {
          "kind": "json-schema",
          "files": [
            "events/**/*.json",
            "settings.schema.json"
          ],
          "direction": "producer"
        },
        {
          "kind": "graphql",
          "folder": "services/api",
          "files": [
            "introspection.json",
            "schema.graphql"
          ]
        },
        {
          "kind": "graphql",
          "folder": "services/products",
          "files": [
            "subgraph.graphql"
          ],
          "partial": true
        },
        {
          "kind": "graphql",
          "folder": "services/orders",
          "files": [
            "schema/*.gql"
          ],
          "partial": true
        }
      ]
    }

    - Remove what is no promise to others, such as test data and copies of the schemas of others.
    - Change "direction" to "consumer" where you accept what a JSON Schema describes.
    - "partial" marks subgraphs, and files that only make a schema together.

    Then run this, and again in each pull request:

      npm install --save-dev @deedwire/contract-check graphql
      npx contract-check workspace

    These files are invalid:

      broken.graphql:2: Syntax Error: Expected Name, found <EOF>.

    Nothing was compared.
    "
  `);
  write({ 'contract-check.json': printedConfiguration(output) });
  expect(await run(['workspace', '--root', root])).toMatchObject({ exitCode: 0, stderr: '' });
  write({
    'services/api/schema.graphql': 'type Query {\n  a: Int\n}\n',
    'services/orders/schema/order.gql': 'type Order { key: ID! }',
  });
  const { exitCode, stdout } = await run(['workspace', '--root', root]);
  expect(exitCode).toBe(1);
  expect(stdout).toContain('Failed: @shop/api, @shop/orders\n');
  // From now on, nothing is left to find.
  expect(await runInFolder(root, [])).toBe(`contract-check workspace compares:

  shop: 3 contracts
  @shop/api: 2 contracts
  @shop/products: 1 contract
  @shop/orders: 2 contracts

These files are invalid:

  broken.graphql:2: Syntax Error: Expected Name, found <EOF>.

Nothing was compared.
`);
});

test('names the folder as the package of schemas without a package.json', async () => {
  write({ 'api/schema.graphqls': sdl });
  commitFirst(root);
  const { stdout } = await find();
  expect(JSON.parse(printedConfiguration(stdout))).toEqual({
    contracts: [{ kind: 'graphql', files: ['api/schema.graphqls'], package: basename(root) }],
  });
  write({ 'contract-check.json': printedConfiguration(stdout) });
  expect((await run(['workspace', '--root', root])).exitCode).toBe(0);
  write({ 'api/schema.graphqls': 'type Query {\n  a: Int\n}\n' });
  expect((await run(['workspace', '--root', root])).exitCode).toBe(1);
  expect((await run(['workspace', '--root', root, '--declared', 'major'])).exitCode).toBe(0);
});

test('lists the schemas outside of the documented folders, and prints no configuration that would replace them', async () => {
  write({ 'package.json': '{ "name": "a", "version": "1.0.0" }', 'versions/1.graphql': sdl, 'schema.graphql': sdl });
  expect((await find()).stdout).toBe(`contract-check workspace compares:

  a: 1 contract

It does not compare:

  GraphQL schema of a 1.0.0, 1 file
    schema.graphql

To compare these as well, list all contracts in contract-check.json.

Nothing was compared.
`);
});

test('finds schemas without git, and in a repository without a commit', async () => {
  write({ 'schema.graphql': sdl });
  // A pipe that nothing writes to.
  execFileSync('mkfifo', [join(root, 'pipe.json')]);
  expect((await find()).stdout).toContain('The folder is not in a git repository');
  initRepository(root);
  const { exitCode, stdout } = await find();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('GraphQL schema, 1 file\n') });
  expect(stdout).not.toContain('not in a git repository');
});

test('prints one pattern for many files', async () => {
  for (let i = 0; i < 300; i += 1) write({ [`${i % 2 ? 'events' : 'events/old'}/${i}.json`]: schema });
  for (let i = 0; i < 30; i += 1) write({ [`broken-${i}.json`]: schema.replace('"object"', '1') });
  const { stdout } = await find();
  expect(JSON.parse(printedConfiguration(stdout)).contracts[0].files).toEqual(['events/**/*.json']);
  expect(stdout).toContain('JSON Schema, 300 files\n');
  expect(stdout).toContain('  and 10 more\n');
  expect(stdout.split('\n').length).toBeLessThan(60);
});

test.each([
  ['an empty folder', {}, '.'],
  ['operations only', { 'a.graphql': 'query A { a }', 'package.json': '{}' }, '.'],
  ['an invalid schema only', { 'a.graphql': 'type' }, '. The first invalid file: '],
])('exits 2 with one line for %s', async (_, files, end) => {
  write(files);
  const { exitCode, stdout, stderr } = await find();
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`${root}: found no schema in ${Object.keys(files).length} file`);
  expect(stderr).toContain(`or with "$schema" in *.json${end}`);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

const referring = (file: string) => schema.replace('"type": "object"', `"properties": { "a": { "$ref": "${file}" } }`);

test('says once what is invalid in a file that others refer to', async () => {
  write({
    'a.schema.json': referring('c.schema.json'),
    'b.schema.json': referring('c.schema.json'),
    'c.schema.json': referring('lost.json'),
    'schema.graphql': sdl,
  });
  expect((await find()).stdout.replaceAll(`${root}/`, '')).toContain(
    'These files are invalid:\n\n  c.schema.json:1: /properties/a refers to "lost.json": lost.json: file not found (reported for 3 files, first a.schema.json)\n\n',
  );
});

test('exits 2 for a folder that does not exist, and for an invalid configuration', async () => {
  expect((await run(['find', '--root', join(root, 'lost')])).stderr).toContain('is not a readable folder');
  write({ 'contract-check.json': '{', 'a.graphql': sdl });
  expect((await find()).stderr).toContain('contract-check.json:1: ');
});

const yaml = {
  'a.schema.yaml': 'type: object\n',
  'openapi.yml': 'openapi: 3.0.0\n',
  'pnpm-lock.yaml': 'lockfileVersion: 9\n',
};

test('finds *.jsonschema, and counts what no command reads', async () => {
  write({
    'package.json': '{ "name": "shop", "version": "1.0.0" }',
    'versions/a.jsonschema': '{ "type": "object" }',
    'b.jsonschema': schema,
    ...yaml,
    'openapi.json': '{\n  "info": "x", "openapi": "3.0.0" }',
    'events.json': '{ "asyncapi": "3.0.0" }',
    'data.json': '{ "nested": { "openapi": "3.0.0" } }',
    'c.json5': '{}',
  });
  const { stdout } = await find();
  expect(stdout).toContain('JSON Schema of shop 1.0.0, 2 files\n    b.jsonschema\n    versions/a.jsonschema\n');
  expect(stdout).toContain(
    '\nNot looked at, because no command reads them: 2 YAML files, 1 JSON5 file, 1 AsyncAPI document, 1 OpenAPI document.\nNothing was compared.\n',
  );
});

test('counts them if there is nothing else', async () => {
  write(yaml);
  const { exitCode, stderr } = await find();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('Not looked at, because no command reads them: 2 YAML files.\n'),
  });
});

test('--write writes the configuration once, which the next command reads', async () => {
  write({ 'package.json': '{ "name": "shop", "version": "1.0.0" }', 'schema.graphql': sdl });
  commitFirst(root);
  const printed = printedConfiguration((await find()).stdout);
  const args = ['find', '--root', root, '--write'];
  const { exitCode, stdout } = await run(args);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining(`Wrote ${root}/contract-check.json`),
  });
  expect(stdout).not.toContain('"contracts"');
  expect(readFileSync(join(root, 'contract-check.json'), 'utf8')).toBe(`${printed}\n`);
  expect((await run(['workspace', '--root', root])).stdout).toContain('shop: verdict none');
  expect(await run(args)).toMatchObject({
    exitCode: 2,
    stderr: `${root}/contract-check.json: exists. Add to it what is missing\n`,
  });
});

test('--write does not replace contracts that are found by their folders', async () => {
  write({ 'package.json': '{ "name": "shop" }', 'versions/1.graphql': sdl, 'schema.graphql': sdl });
  expect(await run(['find', '--root', root, '--write'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('would replace the contracts that are found by their folders'),
  });
});
