import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const readText = (path: string): string => readFileSync(join(root, path), 'utf8');
const folder = join(root, '.github/workflows');
const workflows = globSync('*.yml', { cwd: folder })
  .toSorted()
  .map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8') }));

/** Job → its lines. */
function jobsOf(text: string): [name: string, lines: string][] {
  const [, jobs = ''] = text.split(/^jobs:\n/m);
  return [...jobs.matchAll(/^ {2}(\w+):\n((?: {4}.*\n|\n)+)/gm)].map(([, name = '', lines = '']) => [name, lines]);
}

test('the repository has these workflows and jobs', () => {
  expect(workflows.map(({ name, text }) => [name, jobsOf(text).map(([job]) => job)])).toEqual([
    ['ci.yml', ['test', 'deploy', 'dependencies']],
    ['nightly.yml', ['postgres', 'more', 'deployments', 'failovers']],
    ['release.yml', ['test', 'version', 'propose', 'pack', 'images', 'publish', 'sign', 'tag']],
  ]);
});

describe.each(workflows)('$name', ({ text }) => {
  test('pins every action to a commit and names its version', () => {
    const uses = [...text.matchAll(/\buses: (.*)/g)].map(([, action = '']) => action);
    const loose = uses.filter((action) => !/^(\.\/.*|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(action));
    expect(loose).toEqual([]);
  });

  test('grants permissions per job only', () => {
    expect(text).toContain('\npermissions: {}\n');
    expect(jobsOf(text).filter(([, lines]) => !/^ {4}permissions:\n/m.test(lines))).toEqual([]);
  });

  test('limits the duration of every job', () => {
    const endless = jobsOf(text).filter(([, lines]) => !/^ {4}(timeout-minutes: \d+|uses: .*)\n/m.test(lines));
    expect(endless).toEqual([]);
  });
});

const jobs = workflows.flatMap(({ text }) => jobsOf(text));
const linesOf = (name: string): string => jobs.find(([job]) => job === name)?.[1] ?? '';

test('CI checks the contracts of pull requests, of merge queues and of releases, with the whole history', () => {
  const [ci = ''] = workflows.filter(({ name }) => name === 'ci.yml').map(({ text }) => text);
  expect(ci).toContain('\non:\n  pull_request:\n  merge_group:\n  workflow_call:\n\n');
  const [job = ''] = jobsOf(ci).flatMap(([name, lines]) => (name === 'test' ? [lines] : []));
  expect(job).toContain('\n          fetch-depth: 0\n');
  expect(job).toContain('\n          node-version: 20\n');
  expect(job).toMatch(/\n {6}- run: \.ci\/run\n+$/);
  expect(job).not.toMatch(/\b(?:if|continue-on-error):/);

  expect(readText('.ci/run')).toMatch(/\nset -euo pipefail\n[^]*\n\$command\nexec \.ci\/full\n$/);
  expect(readText('.ci/full')).toMatch(/\nexec \$command:full\n$/);
  expect(readText('scripts/check.ts')).toMatch(
    /\n {4}name: 'contracts',\n {4}remedy: .*\n {4}check: \(\) => checkContracts\(\),\n/,
  );
});

test('only what publishes and signs can request an identity token, and reviewers have to agree', () => {
  const identified = jobs.filter(([, lines]) => lines.includes('id-token: write')).map(([job]) => job);
  expect(identified).toEqual(['publish', 'sign']);
  for (const job of identified) expect(linesOf(job)).toContain('\n    environment: release\n');
});

test('packages are only staged, and tagged after a reviewer has agreed that they are approved', () => {
  expect(linesOf('publish')).toMatch(/publish-release\.ts .* --stage\n/);
  expect(linesOf('tag')).toContain('\n    environment: approved\n');
});

test('no job that can write, publish or sign runs code of a dependency', () => {
  const writing = jobs.filter(([, lines]) => /: write\n/.test(lines));
  expect(writing.map(([job]) => job)).toEqual(['propose', 'publish', 'sign', 'tag']);
  for (const [, lines] of writing)
    expect(lines).not.toMatch(/\b(?:pnpm|npx|yarn|corepack|npm (?:ci|i|install|exec|run)|turbo|node_modules|cache)\b/);
  const installing = jobs.filter(([, lines]) => lines.includes(' install --frozen-lockfile'));
  expect(installing.map(([job]) => job)).toEqual(expect.arrayContaining(['version', 'pack', 'images']));
  for (const [, lines] of installing) expect(lines).toMatch(/\n {4}permissions:\n {6}contents: read\n {4}\w/);
});

test('no command has a token among its arguments', () => {
  const commands = jobs.flatMap(([, lines]) => lines.split('\n').filter((line) => !/^\s+[A-Z_]+: /.test(line)));
  expect(commands.filter((line) => /\btoken\b.*@|x-access-token|secrets\.|github\.token/i.test(line))).toEqual([]);
});

test('the Action of contract-check installs the major version that it belongs to', () => {
  const packageFolder = join(import.meta.dirname, '../../../packages/contract-check');
  const { version }: { version: string } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8'));
  const action = readFileSync(join(packageFolder, 'action/action.yml'), 'utf8');
  expect(action).toContain(`default: '@deedwire/contract-check@${version.split('.')[0]}'\n`);
});
