import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

/** The packages that any application can use. The others are the law firm's, or name what it publishes. */
const platform = [
  'apps/operator-cli',
  'apps/webhook-worker',
  'packages/actions',
  'packages/auth',
  'packages/contract-check',
  'packages/core',
  'packages/graphql-server',
  'packages/operation-analysis',
  'packages/operator',
  'packages/portal',
  'packages/service-runtime',
  'packages/store',
  'packages/webhook-contract',
  'packages/webhook-diagnosis',
  'packages/webhook-receiver',
  'packages/webhook-rendering',
  'packages/webhook-sender',
  'packages/webhook-signing',
  'packages/webhooks',
  'tools/checks',
  'tools/dev-environment',
  'tools/embedded-postgres',
  'tools/generate',
  'tools/layout',
  'tools/release',
  'tools/test-service',
  'tools/testing',
];

/** Tests, what `pnpm generate` writes, templates, and the demonstration, which is the law firm's. */
const left = /\.test\.ts$|\/(?:generated|template)\/|^tools\/dev-environment\/src\/demo(?:-[a-z]+)?\.ts$/;

/** oxfmt breaks lines so that no comment begins before code. */
const comment = /^\s*(?:\/[/*]|\*|\{\/\*).*|\s\/\/\s.*/gm;

/** After the words of identifiers and of strings are separated. The verb "matter" is none of the names. */
const named = /\b(?:lender|partner|referral|(?<!\bnot )matter|team member)s?\b/;

/** Most lines contain none of them. */
const perhaps = /lender|partner|referral|matter|member/i;

function namesFirm(line: string): boolean {
  if (!perhaps.test(line)) return false;
  const words = line.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ').replaceAll(/[-_.]/g, ' ');
  return named.test(words.toLowerCase());
}

/** Without comments. */
function linesOf(file: string): string[] {
  return readFileSync(join(workspaceRoot, file), 'utf8').replaceAll(comment, '').split('\n');
}

test('states how many lines of the platform name what belongs to the law firm, which can only become fewer', () => {
  const files = globSync(
    platform.map((folder) => `${folder}/src/**/*.{ts,tsx}`),
    { cwd: workspaceRoot },
  );
  const lines = files.filter((file) => !left.test(file)).flatMap(linesOf);
  expect(lines.filter(namesFirm).length).toBe(35);
});

/** What the law firm alone has, by import. */
const importsFirm = /from '@deedwire\/(?:firm\b|dev-environment\/firm-harness|webhook-events)/;

/** The tests of the law firm, with its demonstration and its deployment, their harness, and this file. */
const ofFirm =
  /^tools\/(?:contract-tests\/(?:src|test)\/firm|dev-environment\/test\/(?:firm|harness\/firm|deploy|demo|quickstart)|checks\/src\/seam)/;

test('lists the tests of the platform that name what belongs to the law firm, which can only become fewer', async () => {
  const files = globSync(
    [...platform, 'tools/contract-tests'].map((folder) => `${folder}/{src/**/*.test,test/**/*}.{ts,tsx}`),
    { cwd: workspaceRoot },
  );
  const naming = files
    .filter((file) => !ofFirm.test(file))
    .filter((file) => linesOf(file).some((line) => namesFirm(line) || importsFirm.test(line)))
    .toSorted();
  // After a file was changed so that it names nothing of the law firm, `vitest run -u` removes it. Add none.
  await expect(`${naming.join('\n')}\n`).toMatchFileSnapshot('tests-that-name-the-firm.txt');
});
