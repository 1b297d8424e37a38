import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { folderForTest, writeIn } from '../../test/support/folders.ts';
import { commitRelease, git, merge } from '../../test/support/git.ts';
import { outcomeOfWorkspace } from '../cli/outcome.ts';
import { renderText } from '../cli/render-text.ts';
import { run } from '../cli/run.ts';
import { checkWorkspace } from './check-workspace.ts';

const exception = {
  package: 'api',
  file: 'versions/2026-06-01.graphql',
  rule: 'graphql/fieldRemoved',
  coordinate: 'Query.secret',
  reason: 'The field shows the secrets of other ledgers.',
  expiresOn: '2027-01-31',
  approvedBy: 'Ada Example',
};
const secret = 'type Query { name: String secret: String }';

let root: string;
beforeEach(() => {
  root = folderForTest();
  write('package.json', '{ "name": "books", "private": true, "version": "0.0.0", "workspaces": ["packages/*"] }');
  write('package-lock.json', '{}');
  write('.changeset/config.json', '{}');
  for (const folder of ['', '.released/']) {
    write(`${folder}packages/api/package.json`, '{ "name": "api", "version": "1.0.0" }');
    write(`${folder}packages/api/versions/2026-06-01.graphql`, secret);
  }
  removeSecret();
  declare('major');
});

const write = (path: string, text: string) => writeIn(root, path, text);

function removeSecret(): void {
  write('packages/api/versions/2026-06-01.graphql', 'type Query { name: String }');
}

/** Releases the contract in git. Elsewhere, each listed exception counts as merged. */
function releaseInGit(): void {
  write('packages/api/versions/2026-06-01.graphql', secret);
  commitRelease(root);
  removeSecret();
}

function declare(bump: string): void {
  write('.changeset/a.md', `---\n"api": ${bump}\n---\n`);
}

function list(...entries: object[]): void {
  write('contract-exceptions.json', JSON.stringify({ exceptions: entries }, null, 2));
}

/** Lists exceptions in a separate pull request, which is merged. */
function except(...entries: object[]): void {
  list(...entries);
  git(root, 'add', 'contract-exceptions.json');
  git(root, 'commit', '--quiet', '--message', 'Approve the exceptions');
  merge(root);
}

async function check(today = '2027-01-01') {
  const baselines = existsSync(join(root, '.git')) ? [] : [join(root, '.released')];
  const report = await checkWorkspace({ root, today, baselines });
  const outcome = outcomeOfWorkspace(report);
  return {
    codes: report.packages.flatMap(({ problems }) => problems.map(({ code }) => code)),
    statuses: report.exceptions.map(({ status }) => status),
    passed: outcome.passed,
    text: renderText(outcome).join('\n'),
  };
}

test('an exception allows a released break with a major bump, and is reported', async () => {
  expect(await check()).toMatchObject({ codes: ['released-version-broken'], passed: false });
  list(exception);
  const { text, ...result } = await check();
  expect(result).toMatchObject({ codes: [], statuses: ['applied'], passed: true });
  expect(text).toContain(`Exceptions in contract-exceptions.json:

  applied  api versions/2026-06-01.graphql Query.secret (graphql/fieldRemoved)
           The field shows the secrets of other ledgers.
           Approved by Ada Example. It holds until 2027-01-31.
`);
  declare('minor');
  expect(await check()).toMatchObject({ codes: ['bump-too-small'], passed: false });
});

test('an exception does not apply in the pull request that adds or changes it', async () => {
  releaseInGit();
  list(exception);
  const added = await check();
  expect(added).toMatchObject({ codes: ['released-version-broken'], statuses: ['new'], passed: false });
  expect(added.text).toContain(
    'To fix: merge the exception in an earlier, separate pull request, and rebase. Otherwise, revert the major changes in',
  );
  git(root, 'add', '--all');
  git(root, 'commit', '--quiet', '--message', 'Break the contract and approve it');
  expect(await check()).toMatchObject({ statuses: ['new'], passed: false });
  except({ ...exception, expiresOn: '2026-12-31' });
  expect(await check()).toMatchObject({ statuses: ['expired'], passed: false });
  list(exception);
  expect(await check()).toMatchObject({ codes: ['released-version-broken'], statuses: ['new'], passed: false });
});

test('a pull request that only adds an exception passes, and so does one that removes an expired one', async () => {
  releaseInGit();
  write('packages/api/versions/2026-06-01.graphql', secret);
  list(exception);
  expect(await check()).toMatchObject({ statuses: ['new'], passed: true });
  except(exception);
  rmSync(join(root, 'contract-exceptions.json'));
  expect(await check('2028-01-01')).toMatchObject({ statuses: [], passed: true });
});

test('an exception can state the bump that a change needs', async () => {
  list({ ...exception, verdict: 'patch' });
  declare('patch');
  expect(await check()).toMatchObject({ codes: [], passed: true });
});

test('an exception covers only its rule, coordinate and file', async () => {
  for (const other of [
    { rule: 'graphql/fieldAdded' },
    { coordinate: 'Query.name' },
    { file: 'versions/2027-06-01.graphql' },
  ]) {
    list({ ...exception, ...other });
    expect(await check()).toMatchObject({ codes: ['released-version-broken'], statuses: ['unused'] });
  }
});

test('an expired exception fails, whether or not a change needs it', async () => {
  list(exception);
  expect(await check('2027-01-31')).toMatchObject({ statuses: ['applied'], passed: true });
  expect(await check('2027-02-01')).toMatchObject({
    codes: ['released-version-broken'],
    statuses: ['expired'],
    passed: false,
  });
  write('packages/api/versions/2026-06-01.graphql', secret);
  const { text, ...result } = await check('2027-02-01');
  expect(result).toMatchObject({ codes: [], statuses: ['expired'], passed: false });
  expect(text).toContain('It expired after 2027-01-31.');
  expect(text).toContain('Failed: contract-exceptions.json');
});

test('an exception that no change needs is reported', async () => {
  write('packages/api/versions/2026-06-01.graphql', secret);
  list(exception);
  expect(await check()).toMatchObject({ codes: [], statuses: ['unused'], passed: true });
});

test.each([
  ['reason', { reason: ' ' }, ':8: /exceptions/0/reason must be a text'],
  ['approver', { approvedBy: undefined }, "/exceptions/0 must have required property 'approvedBy'"],
  ['expiry', { expiresOn: 'never' }, '/exceptions/0/expiresOn must be YYYY-MM-DD'],
  ['rule', { rule: 'anything' }, '/exceptions/0/rule must be a rule'],
  ['package', { package: 'other' }, '/exceptions/0/package must be a contract package: api'],
  ['verdict', { verdict: 'small' }, '/exceptions/0/verdict must be one of none, patch, minor, major, null'],
])('rejects an exception with an invalid %s', async (_, changed, message) => {
  list({ ...exception, ...changed });
  const { exitCode, stderr } = await run(['workspace', '--root', root, '--baseline', join(root, '.released')]);
  expect(stderr).toContain(message);
  expect(exitCode).toBe(2);
});
