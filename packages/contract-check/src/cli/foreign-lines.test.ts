import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { api, buildOf, environmentOf, exported, worker } from '../../test/support/environment.ts';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { broken, sdl } from '../../test/support/gated-repository.ts';
import { commitFirst, commitRelease } from '../../test/support/git.ts';
import { runInFolder } from '../../test/support/run-in-folder.ts';
import { printedLine } from './printed-line.ts';

// Line ends of terminals and of CI services, and what they take for one.
const ends = ['\n', '\r', '\r\n  ', '\u2028', '\u2029', '\u0085', '\u001B[1E', '\v', '\f'];
const forged = ends.map((end) => `${end}::error::forged`).join('x');

/** The lines that a terminal or a CI service would take for forged ones. */
function forgedIn(printed: string): string[] {
  return printed.split(/[\p{Cc}\p{Zl}\p{Zp}]/u).filter((line) => /^\s*(?:\[1E)?::error::forged/.test(line));
}

let root: string;
beforeEach(() => {
  root = folderForTest();
});

describe.each(['text', 'github', 'markdown', 'junit', 'sarif', 'json'])(
  'in the format %s, no line begins with',
  (format) => {
    test('the name of a package, or a reason', async () => {
      writeIn(root, 'package.json', { name: 'root', workspaces: ['packages/*'] });
      writeIn(root, 'packages/api/package.json', { name: `@books/api${forged}`, version: '1.0.0' });
      writeIn(root, 'packages/api/schema.graphql', sdl);
      writeIn(root, '.changeset/config.json', '{}');
      writeIn(root, 'contract-check.json', {
        contracts: [{ kind: 'graphql', folder: 'packages/api', files: ['*.graphql'] }],
        overrides: [{ rule: 'graphql/fieldRemoved', coordinate: 'Query.b', verdict: 'minor', reason: `Why${forged}` }],
      });
      commitRelease(root);
      writeIn(root, 'packages/api/schema.graphql', broken);
      const printed = await runInFolder(root, ['workspace', '--format', format]);
      expect(printed).toContain('Query.b');
      expect(forgedIn(printed)).toEqual([]);
    });

    test('the name of a file', async () => {
      const from = writeIn(root, `old${forged}.graphql`, 'type Query { a: Int @later b: Int }');
      const to = writeIn(root, `::error::forged${forged}.graphql`, 'type Query { a: Int @later }');
      const printed = await runInFolder(root, ['graphql', '--from', from, '--to', to, '--format', format]);
      expect(printed).toContain('Query.b');
      expect(forgedIn(printed)).toEqual([]);
    });
  },
);

test('no line of find begins with the name of a file or a package', async () => {
  const folder = join(root, `api${forged}`.replaceAll('/', ''));
  mkdirSync(folder);
  writeIn(folder, 'package.json', { name: `@books/api${forged}`, version: '1.0.0' });
  for (const name of [`a${forged}.graphql`, `::error::forged.graphql`]) writeIn(folder, name, sdl);
  writeIn(folder, `${forged}.graphql`, 'type {');
  commitFirst(root);
  const printed = await runInFolder(root, ['find']);
  expect(printed).toContain('a\\u000a::error::forged');
  expect(forgedIn(printed)).toEqual([]);
});

test.each([
  ['can-i-deploy', ['--build', 'build.json']],
  ['can-i-retire', ['customer@2026-11-01']],
])('no line of %s begins with what an environment contains', async (command, args) => {
  const known = buildOf(`customer-api${forged}`, `0.5.0${forged}`, api);
  const changes = { environment: `production${forged}`, otherApps: [forged] };
  writeIn(root, 'environment.json', exported(environmentOf([known], changes)));
  writeIn(root, 'build.json', buildOf(`webhook-worker${forged}`, '0.5.0', worker));
  const printed = await runInFolder(root, [command, '--environment', 'environment.json', ...args]);
  expect(printed).toContain('0.5.0\\u000a');
  expect(forgedIn(printed)).toEqual([]);
});

test('no error begins a line with the name of a file', async () => {
  for (const name of [`::error::forged`, `a${forged}`])
    expect(forgedIn(await runInFolder(root, ['graphql', '--from', name, '--to', name]))).toEqual([]);
});

test('a line is no command of a CI service, and JSON stays the same', () => {
  expect(
    ['::error::a', ' \u00A0::a', ':a', 'a::b', 'a ##[error]b', '##vso[task.x]', '## [a](b)', '### a'].map(printedLine),
  ).toEqual([
    String.raw`\u003a:error::a`,
    String.raw` ` + '\u00A0' + String.raw`\u003a:a`,
    ':a',
    'a::b',
    String.raw`a \u0023#[error]b`,
    String.raw`\u0023#vso[task.x]`,
    '## [a](b)',
    '### a',
  ]);
  const text = JSON.stringify('::a ##[b] \u2028');
  expect(JSON.parse(printedLine(text))).toBe('::a ##[b] \u2028');
});
