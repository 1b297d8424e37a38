import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callOperator } from '@deedwire/dev-environment/harness';
import { blocksOf, isCommand } from '@deedwire/testing';
import { expect, test } from 'vitest';
import { workspaceRoot } from './support/workspace-copy.ts';

const page = await readFile(join(workspaceRoot, 'docs/operations.md'), 'utf8');

const full = 'tools/contract-tests/test/full';
/** The test that runs all commands of a section. */
const ranBy: Record<string, string> = {
  Install: 'tools/dev-environment/test/deploy/systemd.test.ts',
  'First start': `${full}/operations.test.ts`,
  Upgrades: `${full}/operations.test.ts`,
  Database: `${full}/operations.test.ts`,
  'A stolen login': `${full}/operations.test.ts`,
  'Rate limits': `${full}/operations.test.ts`,
  Listeners: `${full}/operations.test.ts`,
  'Audit log': `${full}/operations.test.ts`,
  'Exports of the audit log': `${full}/operations.test.ts`,
  Traces: `${full}/tracing.test.ts`,
  Alerts: `${full}/operations.test.ts`,
};

test('a test runs the commands of each section of docs/operations.md', async () => {
  const sections = new Set(
    blocksOf(page)
      .filter(isCommand)
      .map(({ section }) => section),
  );
  expect([...sections].toSorted()).toEqual(Object.keys(ranBy).toSorted());
  for (const [section, file] of Object.entries(ranBy)) {
    const source = await readFile(join(workspaceRoot, file), 'utf8');
    expect(source).toMatch(new RegExp(String.raw`commandsOf\(page, '${section}', \d+\)`));
  }
});

test('the commands of the operator that docs/operations.md names exist', async () => {
  const named = Map.groupBy(page.matchAll(/deedwire-operator ([a-z]+) ([a-z-]+)/g), ([, group = '']) => group);
  expect(named.size).toBeGreaterThan(8);
  for (const [group, matches] of named) {
    const { stdout } = await callOperator({}, group, '--help');
    const commands = Array.from(stdout.matchAll(/^  ([a-z-]+) /gm), ([, command]) => command);
    expect(commands).toEqual(expect.arrayContaining(matches.map(([, , command]) => command)));
  }
});
