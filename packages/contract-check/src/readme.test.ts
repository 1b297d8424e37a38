import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { withRulesTables } from '../rules-tables.ts';
import { run } from './cli/run.ts';
import { readManifest } from './manifest/read-manifest.ts';

// Far above the usual duration, so that a busy machine does not fail the test.
vi.setConfig({ testTimeout: 120_000 });

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'contract-check-readme-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The fenced code blocks of a language, in order. */
function blocks(language: string): string[] {
  return [...readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text ?? '');
}

/** Runs a block that starts with `$ npx contract-check …`. Returns the actual and the expected output. */
function runExample(block: string, files: Readonly<Record<string, string | undefined>>) {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text ?? '');
  const [line = '', ...expected] = block.split('\n');
  const args = line.replace('$ npx contract-check ', '').split(' ');
  const { exitCode, stdout } = run(args.map((arg) => (arg in files ? join(folder, arg) : arg)));
  return { exitCode, stdout, expected: expected.join('\n') };
}

test('contains the generated rule tables', () => {
  expect(readme).toBe(withRulesTables(readme));
});

test('shows the output of the GraphQL example', () => {
  writeFileSync(join(folder, 'package.json'), '{ "name": "@books/ledger-api" }');
  const [from, to] = blocks('graphql');
  const { exitCode, stdout, expected } = runExample(blocks('console')[0] ?? '', {
    'old.graphql': from,
    'new.graphql': to,
  });
  expect(stdout).toBe(expected);
  expect(exitCode).toBe(1);
});

test('shows the output of the JSON Schema example', () => {
  const [from, to] = blocks('json');
  const { exitCode, stdout, expected } = runExample(blocks('console')[1] ?? '', { 'old.json': from, 'new.json': to });
  expect(stdout).toBe(expected);
  expect(exitCode).toBe(0);
});

test('shows the output of the code example', () => {
  const index = new URL('index.ts', import.meta.url).href;
  const file = join(folder, 'example.mts');
  writeFileSync(file, (blocks('ts')[0] ?? '').replace('@deedwire/contract-check', index));
  expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe(blocks('text')[0]);
});

test('shows a valid manifest', () => {
  expect(Object.keys(readManifest({ file: 'README.md', text: blocks('json')[2] ?? '' }))).toHaveLength(6);
});
