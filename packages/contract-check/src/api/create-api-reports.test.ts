import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { run } from '../cli/run.ts';
import { compareApiReports } from './compare-api-reports.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'contract-check-api-report-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function declarationsOf(file: string): Promise<Record<string, object>> {
  const { stdout, stderr } = await run(['api-report', file]);
  expect(stderr).toBe('');
  return JSON.parse(stdout).declarations;
}

const kinds =
  "export type Kind = 'b' | 'a';\nexport interface Unused { x: string }\nexport interface Options { kind?: Kind }\n";

test.each(['./kind.ts', './kind.js', './kind'])(
  'describes exported declarations and those that they refer to: %s',
  async (specifier) => {
    write('kind.d.ts', kinds);
    const index = write(
      'index.d.ts',
      `import { type Kind, type Options } from '${specifier}';
     /** Documentation is not part of the report. */
     export declare function post(options: Options): Entry;
     export declare class Entry<T = string> extends Map<string, T> {
       #secret: string;
       private hidden: string;
       static of(kind: Kind): Entry;
       readonly data: { id: string; note?: string | null; tags: { name: string }[] } | null;
     }
     export declare const limit = 10;
     export type { Kind } from '${specifier}';`,
    );
    expect(await declarationsOf(index)).toEqual({
      Entry: {
        kind: 'class',
        signature: '<T = string> extends Map<string, T>',
        nominal: true,
        members: {
          data: 'readonly {} | null',
          'data.id': 'string',
          'data.note?': 'string | null',
          'data.tags': '{}[]',
          'data.tags.name': 'string',
          of: 'static (kind: Kind): Entry',
        },
      },
      Kind: { kind: 'union', signature: '', union: ["'a'", "'b'"], input: true },
      'kind.Options': { kind: 'interface', signature: '', members: { 'kind?': 'Kind' }, input: true },
      limit: { kind: 'value', signature: '10' },
      post: { kind: 'function', signature: '(options: Options): Entry' },
    });
  },
);

test('leaves out the declarations of installed packages', async () => {
  write('package.json', '{ "name": "@books/client" }');
  write('node_modules/money/package.json', '{ "name": "money", "types": "index.d.ts" }');
  write('node_modules/money/index.d.ts', 'export interface Money { amount: number }');
  write('types/entry.d.ts', "import { Money } from 'money';\nexport interface Entry { sum: Money }");
  const index = write(
    'dist/index.d.ts',
    "import { Entry } from '../types/entry.js';\nexport declare function post(): Entry;",
  );
  expect(Object.keys(await declarationsOf(index))).toEqual(['../types/entry.Entry', 'post']);
});

test('writes a report for each entry point, which a later version can be compared with', async () => {
  write('dist/kind.d.ts', kinds);
  const files = ['dist/index.d.ts', 'dist/web/node.d.mts'].map((path) =>
    write(path, `export * from '${path.includes('web') ? '../' : './'}kind.js';`),
  );
  const out = join(folder, 'api');
  const written = ['index.api.json', 'web/node.api.json'].map((name) => join(out, name));
  expect(await run(['api-report', ...files, '--out', out])).toEqual({
    exitCode: 0,
    stdout: `${written.join('\n')}\n`,
    stderr: '',
  });
  const before = { file: 'before', text: readFileSync(join(out, 'index.api.json'), 'utf8') };
  write('dist/kind.d.ts', kinds.replace("'b' | ", ''));
  const after = { file: 'after', text: (await run(['api-report', files[0] ?? ''])).stdout };
  expect(compareApiReports(before, after).changes.map(({ rule, coordinate }) => [rule, coordinate])).toContainEqual([
    'api/declarationChanged',
    'Kind',
  ]);
});

test.each([
  ['index.ts', 'export {};', ': is no declaration file. Pass the .d.ts files that tsc writes with --declaration\n'],
  ['lost.d.ts', null, ': file not found. Build the package first\n'],
  ['global.d.ts', 'declare const a: string;', ': exports nothing, so it is not the entry point of a package\n'],
  ['import.d.ts', "\nexport { a } from './lost.js';", ':2: refers to "./lost.js", which does not exist\n'],
  ['again.d.ts', "export * from 'lost';", ':1: refers to "lost", which is not installed\n'],
])('exits 2 and names the file: %s', async (name, text, message) => {
  const file = text === null ? join(folder, name) : write(name, text);
  expect(await run(['api-report', file])).toEqual({ exitCode: 2, stdout: '', stderr: `${file}${message}` });
});

test('prints one report only', async () => {
  expect((await run(['api-report', 'a.d.ts', 'b.d.ts'])).stderr).toBe(
    'contract-check api-report: name the folder for the reports of several files, for example --out api. See contract-check api-report --help.\n',
  );
});

test('describes what decides whether callers can create and extend a class, and which types they choose', async () => {
  const index = write(
    'index.d.ts',
    `export declare class Entry { private constructor(id: string); id: string; }
     export interface Options { id: string }
     export interface Events { added: string }
     export declare function read<T extends Options>(): T;
     export declare function on<K extends keyof Events>(name: K): void;`,
  );
  expect(await declarationsOf(index)).toMatchObject({
    Entry: { nominal: false, members: { constructor: 'private (id: string)' } },
    Options: { input: true },
    Events: expect.not.objectContaining({ input: true }),
  });
});
