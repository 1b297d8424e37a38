import { beforeEach, describe, expect, test } from 'vitest';
import { folderForTest, writeAllIn, writeIn } from '../../test/support/folders.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';

const sdl = 'type Entry { id: ID! note(text: String): String } type Query { entry(id: ID, text: String): Entry }';

let folder = '';
beforeEach(() => {
  folder = folderForTest();
  writeIn(folder, 'schema.graphql', sdl);
});

async function uses(files: Readonly<Record<string, object | string>>, ...args: readonly string[]) {
  writeAllIn(folder, files);
  const documents = Object.keys(files).flatMap((path) => ['--documents', path]);
  return runInFolder(folder, ['uses', '--consumer', 'portal', '--schema', 'schema.graphql', ...documents, ...args]);
}

/** The texts of the operations, each in one line. */
async function sentOf(files: Readonly<Record<string, object | string>>) {
  const { operations } = JSON.parse(await uses(files));
  return operations.map(({ text }: { text: string }) => text.replaceAll(/\s+/g, ' '));
}

const operation = (name: string, field = 'id') => `query ${name} { entry { ${field} } }`;
const fragment = (field: string) => `fragment F on Entry { ${field} }`;

describe('names are those of a file', () => {
  test.each([
    [
      'an operation name in two files',
      { 'a.graphql': operation('A'), 'b.graphql': operation('A', 'note') },
      ['query A { entry { id } }', 'query A { entry { note } }'],
    ],
    [
      'an operation in two files, which is one',
      { 'a.graphql': operation('A'), 'b.graphql': `# again\n${operation('A').replace(' ', '\n')}` },
      ['query A { entry { id } }'],
    ],
    [
      'unnamed operations in two files',
      { 'a.graphql': '{ entry { id } }', 'b.graphql': '{ entry { note } }' },
      ['{ entry { id } }', '{ entry { note } }'],
    ],
    [
      'a named and an unnamed operation in two files',
      { 'a.graphql': operation('A'), 'b.graphql': '{ entry { id } }' },
      ['{ entry { id } }', 'query A { entry { id } }'],
    ],
    [
      'a fragment that is written alike in two files',
      {
        'a.graphql': operation('A', '...F'),
        'b.graphql': fragment('id'),
        'c.graphql': `# again\n${fragment('\n  id,')}`,
      },
      ['query A { entry { ...F } } fragment F on Entry { id }'],
    ],
    [
      'fragments that differ, each in the file of its operation',
      {
        'a.graphql': `${operation('A', '...F')} ${fragment('id')}`,
        'b.graphql': `${operation('B', '...F')} ${fragment('note')}`,
      },
      [
        'query A { entry { ...F } } fragment F on Entry { id }',
        'query B { entry { ...F } } fragment F on Entry { note }',
      ],
    ],
  ])('%s', async (_, files, texts) => {
    expect(await sentOf(files)).toEqual(texts);
  });

  const differs = 'Fragments with the name "F" differ, and nothing says which one is sent.';
  const way = 'Rename one, or pass the persisted operations of the client.';
  test.each([
    [
      'of which the operation has none',
      { 'a.graphql': operation('A', '...F'), 'b.graphql': fragment('id'), 'c.graphql': fragment('note') },
      `a.graphql:1:19: ${differs} ${way} (also b.graphql:1:1, c.graphql:1:1)\n`,
    ],
    [
      'of which another fragment needs one, and the operation the other',
      {
        'a.graphql': `${operation('A', '...F ...G')} ${fragment('id')}`,
        'b.graphql': `fragment G on Entry { ...F } ${fragment('note')}`,
      },
      `b.graphql:1:23: ${differs} ${way} (also a.graphql:1:33, b.graphql:1:30)\n`,
    ],
  ])('fragments that differ, %s, are an error', async (_, files, message) => {
    expect(await uses(files)).toBe(message);
  });
});

const isUnknown =
  'the text is known only when the program runs. Write it here as one template without expressions (fragments are found by name), or pass the persisted operations of the client';

describe('TypeScript and JavaScript', () => {
  test.each([
    ['gql', 'a.ts', 'const a = gql`query A { entry { id } }`;'],
    ['a tag of an object', 'a.ts', 'const a = Apollo.gql<A, B>`query A { entry { id } }`;'],
    [
      'graphql of Relay',
      'a.jsx',
      '// @flow\nconst f = (x: number) => <A {...useQuery(graphql`query A { entry { id } }`)} />;',
    ],
    ['graphql of the client preset', 'a.tsx', 'const a = <b>{useQuery(graphql(`query A { entry { id } }`))}</b>;'],
    [
      'graphql of gql.tada',
      'a.mts',
      'const a = graphql(`query A { entry { id ...F @_unmask } }`, [F]); graphql("fragment F on Entry { id }")',
    ],
    ['a comment', 'a.cts', 'const a = /* GraphQL */ `query A { entry { id } }` as const;'],
    ['gql with a comment', 'a.js', 'const a = gql(/* GraphQL */ `query A { entry { id } }`);'],
    ['a comment in the template', 'a.ts', 'const a = `#graphql\nquery A { entry { id } }`;'],
    [
      'an import with another name',
      'a.ts',
      'import { graphql as g } from "r"; import q from "graphql-tag"; g`query A { entry { id } }`; q`fragment F on Entry { id }`',
    ],
    [
      'a module of CommonJS',
      'a.cjs',
      '#!/usr/bin/env node\nconst { gql } = require("urql"); if (a) return; gql`query A { entry { id } }`',
    ],
    [
      'decorators',
      'a.ts',
      '@Component({}) class A { constructor(@Inject(B) private b: B) { gql`query A { entry { id } }`; } }',
    ],
    ['a text with a type', 'a.ts', 'graphql(`query A { entry { id } }` as const)'],
    ['a tag with a type', 'a.ts', '(gql as any)`query A { entry { id } }`; (<any>gql!)`fragment F on Entry { id }`'],
    ['a tag with a type of Flow', 'a.js', '(gql: any)`query A { entry { id } }`'],
    ['an optional call', 'a.ts', 'gql?.(`query A { entry { id } }`); a?.gql(`fragment F on Entry { id }`)'],
    ['a compiled module', 'a.js', 'const a_1 = require("a"); (0, a_1.gql)`query A { entry { id } }`'],
    ['a text with an asserted type', 'a.ts', 'graphql(<any>`query A { entry { id } }`)'],
    ['a text that is not null', 'a.ts', 'graphql(`query A { entry { id } }`!)'],
    ['a text with several types', 'a.ts', 'graphql((`query A { entry { id } }` as const) as unknown as string)'],
    ['a text that satisfies a type', 'a.ts', 'graphql(`query A { entry { id } }` satisfies string)'],
    ['an import of the default', 'a.ts', 'import { default as g } from "graphql-tag"; g`query A { entry { id } }`'],
    ['the default of a namespace', 'a.ts', 'import * as G from "graphql-tag"; G.default`query A { entry { id } }`'],
    ['a namespace', 'a.ts', 'import * as G from "graphql-tag"; G`query A { entry { id } }`'],
    ['an import of TypeScript', 'a.ts', 'import g = require("graphql-tag"); g`query A { entry { id } }`'],
    ['a computed member', 'a.ts', 'gql["x"]`query A { entry { id } }`; Apollo["gql"](`fragment F on Entry { id }`)'],
    ['a name from require', 'a.js', 'const { gql: g } = require("graphql-tag"); g`query A { entry { id } }`'],
    ['a module from require', 'a.js', 'const g = require("graphql-tag"); g`query A { entry { id } }`'],
    ['a member of require', 'a.js', 'const g = require("urql").gql; g`query A { entry { id } }`'],
    [
      'a wrapped module from require',
      'a.js',
      'const g = __importDefault(require("graphql-tag")); (0, g.default)(`query A { entry { id } }`)',
    ],
    ['a dynamic import', 'a.mjs', 'const { gql: g } = await import("urql"); g`query A { entry { id } }`'],
    ['a name of gql.tada', 'a.ts', 'export const q = initGraphQLTada<{ a: B }>(); q(`query A { entry { id } }`)'],
    ['another name of gql', 'a.ts', 'const q = gql; q`query A { entry { id } }`'],
    ['a comment before a string', 'a.ts', "const a = /* GraphQL */ 'query A { entry { id } }';"],
    ['a comment before parentheses', 'a.ts', 'const a = /* GraphQL */ (`query A { entry { id } }`) as A;'],
    ['a document in a call', 'a.ts', 'graphql(gql`query A { entry { id } }`)'],
    ['a list of many elements', 'a.ts', `gql\`query A { entry { id } }\`; const a = [${'1,'.repeat(150_000)}]`],
    ['a name that is declared twice', 'a.mjs', 'const a = 1; const a = gql`query A { entry { id } }`;'],
    ['a byte order mark and CR LF', 'a.ts', '\uFEFFconst a = gql`\r\n  query A {\r\n    entry { id }\r\n  }`;\r\n'],
  ])('%s', async (_, path, text) => {
    expect(await sentOf({ [path]: text })).toEqual([
      expect.stringMatching(/^query A \{ entry \{ id (?:\.\.\.F )?\} \}/),
    ]);
  });

  test('what a template escapes, and strings', async () => {
    const text = String.raw`gql${'`'}query A { entry(text: "\`\u00e9\\n\${a}") { id } }${'`'}; gql('{ entry(text: "b") { id } }');`;
    expect(await sentOf({ 'a.ts': text })).toEqual([
      '{ entry(text: "b") { id } }',
      'query A { entry(text: "`é\\n${a}") { id } }',
    ]);
  });

  test('unnamed operations, fragments of other files, and files without a document', async () => {
    const files = {
      'a.ts':
        'gql`{ entry { id } }`; gql`{ entry { ...F } }`; graphql({ schema }); graphql(); gql.resetCaches(); tag`${a}`; tag(a);',
      'b.tsx': 'gql`fragment F on Entry { note }`',
      'c.graphql': 'query C { entry { ...F } }',
      'd.d.ts': 'export declare const d: string; declare module "*.png" { const a: string; export default a }',
    };
    expect(await sentOf(files)).toEqual([
      '{ entry { ...F } } fragment F on Entry { note }',
      '{ entry { id } }',
      'query C { entry { ...F } } fragment F on Entry { note }',
    ]);
  });

  test.each([
    ['import { graphql } from "graphql"; graphql(schema, source); graphql(`query {`)'],
    ['import { graphql as run } from "graphql"; run(schema, source)'],
    ['import { graphql } from "@nestjs/graphql"; graphql(schema, source)'],
    ['import { graphql } from "@apollo/client/react/hoc"; graphql(query)(A)'],
    ['import * as G from "graphql"; G.graphql(schema, source)'],
    ['import G from "graphql"; const { graphql } = G; graphql(schema, source)'],
    ['const { graphql } = require("graphql"); graphql(schema, source)'],
    ['const graphql = require("graphql").graphql; graphql(schema, source)'],
    ['require("graphql").graphql(schema, source)'],
    ['const { graphql } = await import("graphql"); graphql(schema, source)'],
    ['import graphql from "@rollup/plugin-graphql"; export default { plugins: [graphql(), graphql({})] }'],
    ['const a = { list: [\n/* GraphQL */\n"graphql", "a"] }'],
  ])('%s is no document', async (text) => {
    expect(await sentOf({ 'a.ts': text, 'b.graphql': operation('B') })).toEqual(['query B { entry { id } }']);
  });

  test.each([
    ['gql(TEXT)', 5],
    ['gql?.(TEXT)', 7],
    ['(gql as any)(TEXT)', 14],
    ['graphql(a ? `{ a }` : `{ b }`)', 9],
    ['graphql(String.raw`{ a }`)', 9],
    ['graphql(["{ a }"].join())', 9],
    ['graphql(["{ a }"])', 9],
    ['graphql(...texts)', 9],
    ['graphql(await text())', 9],
    ['graphql(TEXT as string)', 9],
    ['client.graphql(TEXT)', 16],
    ['graphql(a)`{ a }`', 9],
    ['import { graphql as run } from "graphql"; graphql(TEXT)', 51],
    ['const a = /* GraphQL */ String.raw`{ a }`', 25],
    ['const a = /* GraphQL */ "{ a " + b', 25],
  ])('%s is an error', async (text, column) => {
    expect(await uses({ 'a.ts': text, 'b.graphql': operation('B') })).toBe(`a.ts:1:${column}: ${isUnknown}\n`);
  });

  test.each([
    [
      'an expression',
      {
        'a.ts': 'const F = gql`fragment F on Entry { id }`;\nconst a = gql`\n  query A { entry { ...F } }\n  ${F}\n`;',
      },
      `a.ts:4:5: ${isUnknown}\n`,
    ],
    ['a text of several parts', { 'a.ts': 'gql("{ entry { id } " + more)' }, `a.ts:1:5: ${isUnknown}\n`],
    [
      'a syntax error of GraphQL',
      { 'a.ts': 'const a = 1;\r\nconst b = gql`\r\n  query A {\r\n    entry { ( }\r\n  }`;' },
      'a.ts:4:13: Syntax Error: Expected Name, found "(". Templates and texts of gql and graphql are read as GraphQL.\n',
    ],
    [
      'a syntax error on the line of the template',
      { 'a.ts': 'const b = gql`query {`;' },
      'a.ts:1:22: Syntax Error: Expected Name, found <EOF>. Templates and texts of gql and graphql are read as GraphQL.\n',
    ],
    [
      'an unknown field',
      { 'a.tsx': '\n\nconst b = <a>{gql(`{ entry { absent } }`)}</a>;' },
      'a.tsx:3:30: Cannot query field "absent" on type "Entry".\n',
    ],
    [
      'an empty template',
      { 'a.ts': 'gql``' },
      'a.ts:1:5: Syntax Error: Unexpected <EOF>. Templates and texts of gql and graphql are read as GraphQL.\n',
    ],
    [
      'a definition of a schema',
      { 'a.ts': 'gql`extend type Query { local: Int }`' },
      'a.ts:1:5: Expected operations and fragments, found a definition of a schema.\n',
    ],
    ['an invalid escape', { 'a.ts': 'gql`\\u{zz}`' }, 'a.ts:1:5: the template has an invalid escape sequence\n'],
    [
      'a file that does not parse',
      { 'a.tsx': 'const a = <b>;\n', 'b.graphql': operation('B') },
      'a.tsx:1:14: is not TypeScript: Unterminated JSX contents.\n',
    ],
    [
      'a JavaScript file that does not parse',
      { 'a.js': 'let a = ;' },
      'a.js:1:9: is not JavaScript: Unexpected token\n',
    ],
    [
      'an operation name twice',
      { 'a.ts': 'gql`query A { entry { id } }`; gql`query A { entry { note } }`' },
      'a.ts:1:11: There can be only one operation named "A". (also a.ts:1:42)\n',
    ],
    [
      'a named and an unnamed operation in a template',
      { 'a.ts': 'gql`query A { entry { id } } { entry { note } }`' },
      'a.ts:1:30: This anonymous operation must be the only defined operation.\n',
    ],
    ['no document at all', { 'a.ts': 'export {}', 'b.js': '' }, 'a.ts, b.js: the files contain no operation\n'],
    [
      'a single-file component',
      { 'a.vue': '<script>gql`{ entry { id } }`</script>' },
      'a.vue: is a single-file component, which is not read. Read are GraphQL files, templates in TypeScript and JavaScript files, and persisted operations in JSON\n',
    ],
    [
      'another file',
      { 'a.py': 'query = gql("{ entry { id } }")' },
      'a.py:1:7: Syntax Error: Expected "{", found "=". The file is read as GraphQL. Templates are read in files with the extensions of TypeScript and JavaScript, and persisted operations in .json.\n',
    ],
  ])('%s is an error', async (_, files, message) => {
    expect(await uses(files)).toBe(message);
  });
});

const manifest = (...operations: readonly object[]) => ({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations,
});

const refused = (name: string): string =>
  `Unknown directive "@${name}". The server refuses it. If the client or a gateway removes it, pass --ignore-directive ${name}.`;

describe('persisted operations', () => {
  test.each([
    [
      'of Apollo, with their own fragments and names',
      manifest(
        { id: '1', name: 'A', type: 'query', body: `${operation('A', '...F')} ${fragment('id')}` },
        { id: '2', name: 'A', type: 'query', body: `${operation('A', '...F')} ${fragment('note')}` },
      ),
    ],
    [
      'of Relay and of the client preset',
      {
        a1: `${operation('A', '...F')}\n\n${fragment('id')}\n`,
        b2: `${operation('A', '...F')}\n\n${fragment('note')}\n`,
      },
    ],
  ])('%s', async (_, content) => {
    expect(await sentOf({ 'a.json': content, 'b.graphql': fragment('__typename') })).toEqual([
      'query A { entry { ...F } } fragment F on Entry { id }',
      'query A { entry { ...F } } fragment F on Entry { note }',
    ]);
  });

  test('with a byte order mark and CR LF', async () => {
    const text = JSON.stringify({ a1: 'query A {\r\n entry { id }\r\n}' }, null, 2).replaceAll('\n', '\r\n');
    expect(await sentOf({ 'a.json': `\uFEFF${text}` })).toEqual(['query A { entry { id } }']);
  });

  test.each([
    ['a directive of a client', operation('A', 'id @nonreactive'), `1:22: ${refused('nonreactive')}`],
    ['a field with @client', operation('A', 'id note @client'), `1:27: ${refused('client')}`],
    ['a directive of Relay', operation('A', 'id @required(action: LOG)'), `1:22: ${refused('required')}`],
    ['__id of Relay', operation('A', '__id'), '1:19: Cannot query field "__id" on type "Entry". Did you mean "id"?'],
    [
      'arguments of a fragment',
      `${operation('A', '...F @arguments(n: 1)')} ${fragment('id')}`,
      `1:24: ${refused('arguments')}`,
    ],
  ])('are sent as they are: %s is an error', async (_, text, message) => {
    expect(await uses({ 'a.json': { a1: text } })).toBe(`a.json: operation "a1":${message}\n`);
  });

  test('lose the directives of --ignore-directive, and no field', async () => {
    const text = 'query A($a: ID) { entry { id note @client @required(action: $a) } }';
    const ignored = ['--ignore-directive', 'client', '--ignore-directive', 'required'];
    const { operations } = JSON.parse(await uses({ 'a.json': { a1: text } }, ...ignored));
    expect(operations).toEqual([{ name: 'A', variables: {}, text: 'query A {\n  entry {\n    id\n    note\n  }\n}' }]);
  });

  const kinds =
    'is no manifest of persisted operations. Read are apollo-persisted-query-manifest, and objects from hashes to texts, as Relay and the client preset of GraphQL Code Generator write them';
  test.each([
    ['an unknown object', { a: 1 }, `a.json:1: the file ${kinds}\n`],
    ['an unknown format', { format: 'other', operations: [] }, `a.json:1: the file ${kinds}\n`],
    ['a list', [], `a.json:1: the file ${kinds}\n`],
    ['an empty object', {}, 'a.json: the files contain no operation\n'],
    ['an empty manifest', manifest(), 'a.json: the files contain no operation\n'],
    [
      'another version',
      { ...manifest(), version: 2 },
      'a.json:1: /version must be 1: other versions of the format are not read\n',
    ],
    ['no operations', { ...manifest(), operations: 1 }, 'a.json:1: /operations must be an array\n'],
    ['an operation without a body', manifest({ id: '1' }), 'a.json:1: /operations/0 must have an id and a body\n'],
    [
      'an id twice',
      manifest({ id: '1', body: operation('A') }, { id: '1', body: operation('A') }),
      'a.json:1: /operations/1 has the id "1" of another operation\n',
    ],
    [
      'another object of texts',
      { name: 'portal' },
      'a.json: operation "name":1:1: Syntax Error: Unexpected Name "portal". A .json file is read as a manifest of persisted operations.\n',
    ],
    [
      'an unknown field',
      { a1: 'query A {\n  entry { absent }\n}' },
      'a.json: operation "a1":2:11: Cannot query field "absent" on type "Entry".\n',
    ],
    [
      'a fragment that it lacks',
      { a1: operation('A', '...F') },
      'a.json: operation "a1":1:22: Unknown fragment "F".\n',
    ],
  ])('%s is an error', async (_, content, message) => {
    expect(
      await uses({ 'a.json': content, ...(message.includes('fragment') && { 'b.graphql': fragment('id') }) }),
    ).toBe(message);
  });
});
