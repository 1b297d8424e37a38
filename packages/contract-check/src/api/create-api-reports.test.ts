import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { run } from '../cli/run.ts';
import { compareApiReports } from './compare-api-reports.ts';
import { createApiReports } from './create-api-reports.ts';

let folder: string;
beforeEach(() => {
  folder = folderForTest();
});

const write = (path: string, text: string) => writeIn(folder, path, text);

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

type Changed = [name: string, from: string, to: string, ...changes: string[]];

// One program for each side, because starting the compiler takes longer than these files.
const changed: Changed[] = [
  [
    'function',
    'declare function f(a: string): void; export = f;',
    'declare function f(a: number): void; export = f;',
    'declarationChanged export=',
  ],
  [
    'class-with-namespace',
    'declare class K { static of(): K; a(): void } declare namespace K { interface O { x: string } } export = K;',
    'declare class K { static of(): K } declare namespace K { interface O { x: string; y: string } } export = K;',
    'memberAdded O.y',
    'memberRemoved export=.a',
  ],
  [
    'constant',
    'declare const k: { a(): void; b(): void }; export = k;',
    'declare const k: { a(): void }; export = k;',
    'memberRemoved export=.b',
  ],
  [
    'global',
    'declare global { interface Window { x: number } } export {};',
    'declare global { interface Window { y?: number } } export {};',
    'memberAdded global.Window.y',
    'memberRemoved global.Window.x',
  ],
  [
    'module',
    'declare module "express" { interface Request { user: string } const a: 1; } export {};',
    'declare module "express" { interface Request { user: string; role: string } } export {};',
    'declarationRemoved "express".a',
    'requiredMemberAdded "express".Request.role',
  ],
  ['script', "import './global-names.js'; export {};", 'export {};', 'declarationRemoved global.version'],
  ['type-only', 'export declare class K {}', 'declare class K {} export type { K };', 'declarationChanged K'],
  ['type-only-star', "export * from './limits.js';", "export type * from './limits.js';", 'declarationChanged limit'],
  ['value', 'declare class K {} export type { K };', 'export declare class K {}', 'declarationAdded K'],
  [
    'import',
    'import type { Stats as S } from "node:fs"; export declare function f(): S;',
    'import type { Server as S } from "node:net"; export declare function f(): S;',
    'declarationChanged f',
  ],
  [
    'import-of-same-name',
    'import { S } from "a"; export declare function f(): S;',
    'import { S } from "b"; export declare function f(): S;',
    'declarationChanged f',
  ],
  [
    'import-to-own',
    'import { S } from "a"; export declare function f(): S;',
    'export interface S { a: string } export declare function f(): S;',
    'declarationAdded S',
    'declarationChanged f',
  ],
  [
    'renamed-import',
    "import { A as K } from './both.js'; export { A, B } from './both.js'; export declare function f(): K;",
    "import { B as K } from './both.js'; export { A, B } from './both.js'; export declare function f(): K;",
    'declarationChanged f',
  ],
  [
    'local-name',
    'import { S } from "a"; export declare function f(s: S): void;',
    'import { S, T } from "a"; export declare function f(s: S, t?: T): void;',
    'parameterAdded f',
  ],
  [
    'alias',
    'declare class A {} export { A, A as B };',
    'declare class A {} export { A as B };',
    'declarationRemoved A',
  ],
  [
    'node-module',
    'export * from "node:querystring"; export declare const a: 1;',
    'export * from "node:querystring";',
    'declarationRemoved a',
  ],
];

test('reports what is not an ordinary export', async () => {
  const reports = await Promise.all(
    [1, 2].map(async (side) => {
      write(`${side}/global-names.d.ts`, 'declare const version: string;');
      write(`${side}/limits.d.ts`, 'export declare const limit = 10;');
      write(`${side}/both.d.ts`, 'export interface A { a: string } export interface B { b: string }');
      write(`${side}/package.json`, '{}');
      symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, `${side}/node_modules`));
      const files = changed.map(([name, ...texts]) => write(`${side}/${name}.d.ts`, texts[side - 1] ?? ''));
      return createApiReports(files);
    }),
  );
  const found = changed.map(([name, from, to]) => {
    const [before, after] = reports.map((report) => ({ file: name, text: report.get(`${name}.api.json`) ?? '' }));
    const { changes } = compareApiReports(before ?? { file: '', text: '' }, after ?? { file: '', text: '' });
    return [
      name,
      from,
      to,
      ...changes.map(({ rule, coordinate }) => `${rule.replace('api/', '')} ${coordinate}`).toSorted(),
    ];
  });
  expect(found).toEqual(changed);
});

/** Two texts of one declaration, and the verdict of the change. A compiler may write either of most pairs. */
const texts: readonly (readonly [what: string, from: string, to: string, verdict: string])[] = [
  ['an alias', 'type NAME = "a" | "b"', 'type NAME = "b" | "a"', 'none'],
  ['a result', 'function NAME(): "a" | "b"', 'function NAME(): "b" | "a"', 'none'],
  ['a parameter', 'function NAME(x: "a" | "b"): void', 'function NAME(x: "b" | "a"): void', 'none'],
  ['a property', 'interface NAME { p: "a" | "b" }', 'interface NAME { p: "b" | "a" }', 'none'],
  ['a constant', 'const NAME: "a" | "b"', 'const NAME: "b" | "a"', 'none'],
  ['a tuple', 'type NAME = ["a" | "b"]', 'type NAME = ["b" | "a"]', 'none'],
  ['a type argument', 'type NAME = Set<"a" | "b">', 'type NAME = Set<"b" | "a">', 'none'],
  ['undefined', 'interface NAME { p: string | undefined }', 'interface NAME { p: undefined | string }', 'none'],
  ['Array', 'interface NAME { p: Array<string> }', 'interface NAME { p: string[] }', 'none'],
  ['ReadonlyArray', 'interface NAME { p: ReadonlyArray<string> }', 'interface NAME { p: readonly string[] }', 'none'],
  ['a readonly property', 'interface NAME { readonly p: Array<1> }', 'interface NAME { readonly p: 1[] }', 'none'],
  ['an intersection', 'function NAME(x: {a:1} & {b:2}): void', 'function NAME(x: {b:2} & {a:1}): void', 'none'],
  ['members', 'function NAME(x: {a:1; b:2}): void', 'function NAME(x: {b:2; a:1}): void', 'none'],
  ['commas', 'const NAME: {a: {c: 1; d: 2}}', 'const NAME: {a: {c: 1, d: 2}}', 'none'],
  ['quotes', "type NAME = 'a'", 'type NAME = "a"', 'none'],
  ['quotes in a union', "type NAME = 'a' | 'b'", 'type NAME = "a" | "b"', 'none'],
  ['parentheses', 'const NAME: ("a" | "b")', 'const NAME: "a" | "b"', 'none'],
  ['parentheses inside', 'const NAME: ("a" | "b") | (("c"))', 'const NAME: "a" | "b" | "c"', 'none'],
  ['a constraint', 'function NAME<T extends 1 | 2>(x: T): void', 'function NAME<T extends 2 | 1>(x: T): void', 'none'],
  ['keys', 'const NAME: Pick<{a:1;b:2;c:3}, "a" | "b">', 'const NAME: Pick<{a:1;b:2;c:3}, "b" | "a">', 'none'],
  ['boolean', 'const NAME: boolean | string', 'const NAME: string | true | false', 'none'],
  ['boolean in a union', 'type NAME = boolean | string', 'type NAME = string | true | false', 'none'],
  [
    'a type parameter',
    'function NAME<T>(x: T, y: <V>(v: V) => T): T',
    'function NAME<U>(x: U, y: <W>(v: W) => U): U',
    'none',
  ],
  ['one of an interface', 'interface NAME<T> { a: T; b(): T }', 'interface NAME<U> { a: U; b(): U }', 'none'],
  ['one of a class', 'class NAME<T> extends Set<T> { a: T }', 'class NAME<U> extends Set<U> { a: U }', 'none'],
  ['one of an alias', 'type NAME<T> = T | Set<T>', 'type NAME<U> = U | Set<U>', 'none'],
  ['an import in a type', 'const NAME: Url', 'const NAME: import("node:url").URL', 'none'],
  ['an import in a type, of its name', 'const NAME: URL', 'const NAME: import("node:url").URL', 'none'],
  ['a method without parameters', 'interface NAME { m(): void }', 'interface NAME { m: () => void }', 'none'],
  ['a parameter name', 'function NAME(x: string): void', 'function NAME(y: string): void', 'patch'],
  // What a compiler does not write in another way.
  ['a method with parameters', 'interface NAME { m(x: 1): void }', 'interface NAME { m: (x: 1) => void }', 'major'],
  ['a method of a class', 'class NAME { m(): void }', 'class NAME { m: () => void }', 'major'],
  ['overloads', 'function NAME(x: {m(): 1; m(a: 1): 2}): 1', 'function NAME(x: {m(a: 1): 2; m(): 1}): 1', 'major'],
  ['swapped type parameters', 'function NAME<T, U>(x: T, y: U): T', 'function NAME<T, U>(x: U, y: T): T', 'major'],
  ['another nesting', 'type NAME<T> = (keyof T)[]', 'type NAME<T> = keyof T[]', 'major'],
  ['a function in a union', 'const NAME: (() => 1) | 2', 'const NAME: () => 1 | 2', 'major'],
  ['an intersection in a union', 'const NAME: ({a:1} | {b:2}) & {c:3}', 'const NAME: {a:1} | {b:2} & {c:3}', 'major'],
  ['another import', 'const NAME: Url', 'const NAME: import("node:url").UrlObject', 'major'],
  [
    'an inline parameter that loses a requirement',
    'function NAME(x: {a: 1}): void',
    'function NAME(x: {a?: 1; b?: 2}): void',
    'minor',
  ],
  ['an inline parameter that gains one', 'function NAME(x: {a?: 1}): void', 'function NAME(x: {a: 1}): void', 'major'],
  ['an inline result', 'function NAME(): {a: 1}', 'function NAME(): {a?: 1}', 'major'],
];

/** The first verdict for each of the declarations `T0`, `T1` and so on, which are `O0` and so on if `name` is `O`. */
async function verdictsOf(name: string, count: number, sides: readonly [string, string]): Promise<string[]> {
  const reports = [];
  for (const text of sides) {
    const file = write('index.d.ts', text);
    reports.push({ file, text: (await run(['api-report', file])).stdout });
  }
  const [from = { file: '', text: '' }, to = from] = reports;
  const { changes } = compareApiReports(from, to);
  return Array.from({ length: count }, (_, index) => {
    const own = changes.find(({ coordinate }) => coordinate.split('.')[0] === `${name}${index}`);
    return own?.verdict ?? 'none';
  });
}

test('reports the same for what a compiler may write in another way', async () => {
  const declare = (side: 1 | 2): string => {
    const lines = texts.map((row, index) => `export declare ${row[side].replace('NAME', `T${index}`)};`);
    return ["import { URL, URL as Url } from 'node:url';", ...lines]
      .join('\n')
      .replaceAll('declare interface', 'interface');
  };
  const found = await verdictsOf('T', texts.length, [declare(1), declare(2)]);
  expect(texts.map(([what], index) => [what, found[index]])).toEqual(texts.map((row) => [row[0], row[3]]));
});

/** Where a type is, whose member becomes optional, and the verdict. It is minor if callers only pass values of the type. */
const uses: readonly (readonly [where: string, use: string, verdict: string])[] = [
  ['a parameter', 'function f(o: O): void', 'minor'],
  ['a constraint', 'function f<T extends O>(o: T): T', 'minor'],
  ['a method', 'interface C { m(o: O): void } export declare const c: C', 'minor'],
  ['a type in a parameter', 'interface P { o: O[] } export declare function f(p: P): void', 'minor'],
  ['a constructor', 'class C { constructor(o: Partial<O>); }', 'minor'],
  ['a parameter, with a member of its name in the result', 'function f(o: O): { O: string }', 'minor'],
  ['a result', 'function f(o: O): O', 'major'],
  ['a parameter of a callback', 'function f(g: (o: O) => void): void', 'major'],
];

test('follows a type to where values of it are passed or received', async () => {
  const declare = (member: string): string =>
    uses
      .map(([, use], index) =>
        `export interface O { ${member} } export declare ${use}`.replaceAll(/\b[CcOPf]\b/g, `$&${index}`),
      )
      .join('\n')
      .replaceAll('declare interface', 'interface');
  const found = await verdictsOf('O', uses.length, [declare('a: 1'), declare('a?: 1')]);
  expect(uses.map(([where], index) => [where, found[index]])).toEqual(
    uses.map(([where, , verdict]) => [where, verdict]),
  );
});
