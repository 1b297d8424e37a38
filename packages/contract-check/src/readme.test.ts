import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { folderForFile, writeIn } from '../test/support/folders.ts';
import { commitFirst, git } from '../test/support/git.ts';
import { runInFolder } from '../test/support/run-in-folder.ts';
import { readInvocation } from './cli/options.ts';
import { readConfig } from './config/config.ts';
import { readManifest } from './manifest/manifest.ts';
import { rulesById } from './rules.ts';

const packageFolder = new URL('../', import.meta.url);
const readText = (path: string): string => readFileSync(new URL(path, packageFolder), 'utf8');
const readme = readText('README.md');
const folder = folderForFile();

/** The fenced code blocks of a language, in order. */
function blocks(language: string, page = readme): string[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(([, , text]) => text ?? '');
}

const oldSdl = `type Query {
  ledger(id: ID!): Ledger
}

type Ledger {
  id: ID!
  entries(first: Int = 20): [Entry!]!
}

type Entry {
  id: ID!
  kind: EntryKind!
}

enum EntryKind {
  DEBIT
  CREDIT
}
`;

test('the ids of the rules are generated', () => {
  const { rules } = JSON.parse(readText('rule-ids.json'));
  expect(rules).toEqual([...rulesById.keys()].toSorted());
  expect(rules).toContain('graphql/fieldRemoved');
});

test('has at most 500 words', () => {
  expect(readme.split(/\s+/).length).toBeLessThanOrEqual(500);
});

test('shows the output of the first command', async () => {
  writeIn(folder, 'package.json', { name: '@books/ledger-api' });
  writeIn(folder, 'schema.graphql', oldSdl);
  commitFirst(folder);
  const changed = oldSdl.replace('[Entry!]!', '[Entry]!').replace('  CREDIT\n', '  CREDIT\n  REVERSAL\n');
  writeIn(folder, 'schema.graphql', changed);
  const [line = '', ...expected] = (blocks('console')[0] ?? '').split('\n');
  expect(await runInFolder(folder, line.replace('$ npx contract-check ', '').split(' '))).toBe(expected.join('\n'));
});

const results = readText('docs/results.md');

test('shows the output of the JSON Schema example', async () => {
  const [from = '', to = ''] = blocks('json', results);
  writeIn(folder, 'old.json', from);
  writeIn(folder, 'new.json', to);
  const [line = '', ...expected] = (blocks('console', results)[0] ?? '').split('\n');
  expect(await runInFolder(folder, line.replace('$ npx contract-check ', '').split(' '))).toBe(expected.join('\n'));
});

test('shows the output of the code example', () => {
  const index = new URL('index.ts', import.meta.url).href;
  const code = (blocks('ts', results)[0] ?? '').replace('@deedwire/contract-check', index);
  const file = writeIn(folder, 'example.mts', code);
  expect(execFileSync(process.execPath, [file], { encoding: 'utf8' })).toBe(blocks('text', results)[0]);
});

test('shows a valid manifest', () => {
  const [manifest] = blocks('json', readText('docs/manifests.md'));
  expect(Object.keys(readManifest({ file: 'manifests.md', text: manifest ?? '' }))).toHaveLength(9);
});

test('shows a valid configuration, and the error of an invalid one', () => {
  const page = readText('docs/configuration.md');
  writeIn(folder, 'contract-check.json', blocks('json', page)[0] ?? '');
  expect(readConfig(null, folder).contracts).toHaveLength(2);
  const misspelled = '{ "overrides": [{\n  "verdict": "none", "reason": "x",\n  "rule": "graphql/fieldRemove" }] }';
  writeIn(folder, 'contract-check.json', misspelled);
  expect(() => readConfig(null, folder)).toThrow(blocks('text', page)[0]?.trimEnd());
});

test('the snippets for pull requests have known inputs, options and references', () => {
  const [steps, pipeline] = blocks('yaml').map((text) => parse(text));
  const { inputs } = parse(readText('action/action.yml'));
  const inline = parse(/`with: (\{ command: .*?\})`/.exec(readme)?.[1] ?? '');
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(inline)));
  expect(inputs.command.default).toBe('workspace');
  expect(steps[0]).toEqual({ uses: 'actions/checkout@v5', with: { 'fetch-depth': 0 } });
  const { variables, rules, script } = pipeline['contract-check'];
  expect({ variables, rules }).toEqual({
    variables: { GIT_DEPTH: 0 },
    rules: [{ if: '$CI_PIPELINE_SOURCE == "merge_request_event"' }],
  });
  const args = String(script.at(-1)).replace('npx contract-check ', '').split(' ');
  expect(readInvocation(args, '')).toMatchObject({ command: 'workspace', options: { base: 'origin/target' } });
});

test('the script for GitLab fetches the target of a merge request, with which the command compares', async () => {
  const repository = join(folder, 'gitlab');
  const clone = join(folder, 'clone');
  writeIn(repository, 'package.json', { name: 'ledger', version: '1.0.0' });
  writeIn(repository, 'versions/1.graphql', oldSdl);
  commitFirst(repository);
  git(folder, 'clone', '--quiet', repository, clone);
  git(clone, 'update-ref', '-d', 'refs/remotes/origin/HEAD');
  writeIn(clone, 'versions/1.graphql', oldSdl.replace('  CREDIT\n', ''));
  const [, fetch = '', command = ''] = parse(blocks('yaml')[1] ?? '')['contract-check'].script;
  const set = 'CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main';
  execFileSync('sh', ['-c', `${set}\n${fetch}`], { cwd: clone, stdio: 'ignore' });
  const output = await runInFolder(clone, String(command).split(' ').slice(2));
  expect(output).toContain('versions/1.graphql breaks a released version');
});
