import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

/** The packages that any application can use. The others are the law firm's, or name what it publishes. */
const platform = [
  'apps/operator-cli',
  'apps/webhook-worker',
  'packages/actions',
  'packages/append',
  'packages/auth',
  'packages/contract-check',
  'packages/core',
  'packages/graphql-server',
  'packages/operation-analysis',
  'packages/operator',
  'packages/portal',
  'packages/service',
  'packages/service-runtime',
  'packages/store',
  'packages/webhook-contract',
  'packages/webhook-diagnosis',
  'packages/webhook-receiver',
  'packages/webhook-rendering',
  'packages/webhook-sender',
  'packages/webhook-signing',
  'packages/webhooks',
  'packages/worker',
  'tools/checks',
  'tools/dev-environment',
  'tools/embedded-postgres',
  'tools/generate',
  'tools/layout',
  'tools/release',
  'tools/test-service',
  'tools/testing',
];

/** Tests, what `pnpm generate` writes, templates, what writes an applied migration, and what is the law firm's. */
const left = /\.test\.ts$|\/(?:generated|template|firm)\//;

/** oxfmt breaks lines so that no comment begins before code. */
const comment = /^\s*(?:\/[/*]|\*|\{\/\*).*|\s\/\/\s.*/gm;

/** After the words of identifiers and of strings are separated. The verb "matter" is none of the names. */
const named = /\b(?:lender|partner|referral|(?<!\bnot )matter|team member|firm)s?\b/;

/** Most lines contain none of them. */
const perhaps = /lender|partner|referral|matter|member|firm/i;

function namesFirm(line: string): boolean {
  if (!perhaps.test(line)) return false;
  const words = line.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll(/[-_.]/g, ' ');
  return named.test(words.toLowerCase());
}

/** Without comments. */
function linesOf(file: string): string[] {
  return readFileSync(join(workspaceRoot, file), 'utf8').replaceAll(comment, '').split('\n');
}

test('nothing of the platform names what belongs to the law firm', () => {
  const files = globSync([...platform.map((folder) => `${folder}/src/**/*.{ts,tsx}`), 'scripts/**/*.{ts,tpl}'], {
    cwd: workspaceRoot,
  });
  const lines = files
    .filter((file) => !left.test(file))
    .flatMap((file) => linesOf(file).map((line) => `${file}: ${line.trim()}`));
  expect(lines.length).toBeGreaterThan(10_000);
  expect(lines.filter((line) => namesFirm(line.slice(line.indexOf(': '))))).toEqual([]);
});

/** What the law firm alone has, by import. */
const importsFirm = /from '@deedwire\/(?:firm\b|dev-environment\/(?:test\/)?firm|webhook-events)/;

/** The tests of the law firm, and this file. */
const ofFirm = /\/firm\/|^tools\/checks\/src\/(?:seam|threats)\./;

/** Applied migrations create tables and roles of the law firm, which later ones move. They never change. */
const ofMigrations = [
  'packages/store/test/bounds-migration.test.ts',
  'packages/store/test/coordinates-migration.test.ts',
];

test('no test of the platform names what belongs to the law firm, but for those of applied migrations', () => {
  const files = globSync(
    [...platform, 'tools/contract-tests'].map((folder) => `${folder}/{src/**/*.test,test/**/*}.{ts,tsx}`),
    { cwd: workspaceRoot },
  );
  const naming = files
    .filter((file) => !ofFirm.test(file))
    .filter((file) => linesOf(file).some((line) => namesFirm(line) || importsFirm.test(line)))
    .toSorted();
  expect(naming).toEqual(ofMigrations);
});
