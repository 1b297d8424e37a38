import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findUndeclared } from './packed-changes.ts';

let root: string;

function write(path: string, content: string | object): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
}

const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...words], { cwd: root, encoding: 'utf8' });

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--message=x');
}

const service = (version: string) => ({
  name: '@deedwire/service',
  version,
  publishConfig: { directory: 'packed' },
  dependencies: { '@deedwire/store': 'workspace:*' },
});
const store = { name: '@deedwire/store', version: '1.0.0', private: true, dependencies: { pg: 'catalog:' } };

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'packed-changes-'));
  git('init', '--quiet');
  write('.changeset/config.json', {});
  write('pnpm-workspace.yaml', 'catalog:\n  pg: ^8.0.0\n');
  write('packages/service/package.json', service('0.1.0'));
  write('packages/service/src/index.ts', '1');
  write('packages/store/package.json', store);
  write('packages/store/src/store.ts', '1');
  write('packages/store/src/store.test.ts', '1');
  write('packages/store/README.md', '1');
  write('packages/other/package.json', { ...store, name: '@deedwire/other' });
  write('packages/other/src/other.ts', '1');
  commit();
});
afterEach(() => rmSync(root, { recursive: true }));

const because = (path: string) => [
  `@deedwire/service: these files are packed, and have changed since 0.1.0: ${path}. Add a changeset for @deedwire/service.`,
];

test.each([
  ['packages/service/src/index.ts', '2'],
  ['packages/store/src/store.ts', '2'],
  ['packages/store/package.json', { ...store, dependencies: { ...store.dependencies, zod: '^4.0.0' } }],
])('names %s, which is packed', async (path, content) => {
  write(path, content);
  expect(await findUndeclared(root)).toEqual(because(path));
  commit();
  expect(await findUndeclared(root)).toEqual(because(path));
});

test('names the package of a dependency whose range has changed in the catalog', async () => {
  write('pnpm-workspace.yaml', 'catalog:\n  pg: ^8.1.0\n');
  expect(await findUndeclared(root)).toEqual(because('packages/store/package.json'));
});

test.each([
  ['packages/store/src/store.test.ts', '2'],
  ['packages/store/README.md', '2'],
  ['packages/other/src/other.ts', '2'],
  ['packages/store/package.json', { ...store, devDependencies: { vitest: 'catalog:' } }],
])('accepts a change of %s, which is not packed', async (path, content) => {
  write(path, content);
  expect(await findUndeclared(root)).toEqual([]);
});

test.each(['service', 'store'])('accepts a change with a changeset for %s', async (name) => {
  write('packages/store/src/store.ts', '2');
  write('.changeset/a.md', `---\n'@deedwire/${name}': patch\n---\n\nA change.\n`);
  expect(await findUndeclared(root)).toEqual([]);
  write('.changeset/a.md', `---\n'@deedwire/other': patch\n---\n\nA change of '@deedwire/${name}': patch\n`);
  expect(await findUndeclared(root)).toEqual(because('packages/store/src/store.ts'));
});

test('names the files of a package that is new in it', async () => {
  write('packages/mail/package.json', { name: '@deedwire/mail', version: '1.0.0', private: true });
  write('packages/mail/src/mail.ts', '1');
  const { dependencies, ...others } = service('0.1.0');
  write('packages/service/package.json', {
    ...others,
    dependencies: { ...dependencies, '@deedwire/mail': 'workspace:*' },
  });
  commit();
  expect(await findUndeclared(root)).toEqual(because('packages/mail/src/mail.ts'));
});

test('compares with the commit that raised the version', async () => {
  write('packages/store/src/store.ts', '2');
  write('packages/service/package.json', service('0.1.1'));
  commit();
  expect(await findUndeclared(root)).toEqual([]);
});
