import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { folderForFile } from '../../../test/support/folders.ts';
import { commitRelease, git } from '../../../test/support/git.ts';
import { run } from '../../cli/run.ts';

// Each test makes one small edit to a copy of the contracts of a package, which are released in the copy. The snapshots pin the
// complete output of contract-check, including its instructions.

const packages = join(import.meta.dirname, '../../../..');
const copies = folderForFile();
/** The copy that a test uses. */
let copy: string;

beforeAll(() => {
  for (const name of ['lender-schema', 'partner-schema', 'webhook-events', 'webhook-signing']) {
    use(name);
    const [from, to] = [join(packages, name), join(copy, 'packages', name)];
    const { contractCheck }: { contractCheck: { appendOnly?: string[] } } = JSON.parse(
      readFileSync(join(from, 'package.json'), 'utf8'),
    );
    const contracts = ['versions', 'versions.json', 'json-schema', 'api', ...(contractCheck.appendOnly ?? [])];
    for (const path of ['package.json', ...contracts.filter((each) => existsSync(join(from, each)))])
      cpSync(join(from, path), join(to, path), { recursive: true });
    commitRelease(copy);
  }
});

function use(packageName: string): void {
  copy = join(copies, packageName);
  mkdirSync(copy, { recursive: true });
}

/** Makes an edit to a file, whose path begins with the name of its package. */
function edit(file: string, from: string | RegExp, to: string): void {
  use(file.slice(0, file.indexOf('/')));
  const path = join(copy, 'packages', file);
  const text = readFileSync(path, 'utf8');
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  writeFileSync(path, edited);
}

afterEach(() => git(copy, 'checkout', '--quiet', '.'));

const commandArguments = (): string[] => ['workspace', '--root', copy, '--today', '2026-11-20'];

async function check(): Promise<{ exitCode: number; text: string }> {
  const { exitCode, stdout, stderr } = await run(commandArguments());
  return { exitCode, text: stdout + stderr };
}

/** Output without what differs between runs and versions. */
function shown(output: string): string {
  return output
    .replaceAll(copy, '<copy>')
    .replaceAll(/(package\.json to) [\d.]+\b/g, '$1 <version>')
    .replaceAll(/(\.\w+):\d+ /g, '$1:<line> ')
    .replaceAll(/commit [0-9a-f]{12} \(.*?\)/g, 'commit <id> (<version>)');
}

test('contract-check, started as a process, accepts the contracts as last released', async () => {
  const bin = join(packages, 'contract-check/src/bin.ts');
  use('partner-schema');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [bin, ...commandArguments()]);
  expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^Passed/m), stderr: '' });
});

const lenderContract = 'lender-schema/versions/2026-11-01';
const partnerContract = 'partner-schema/versions/2026-11-01';
const convertedSchema = 'webhook-events/json-schema/referral.converted';

test.each([
  [
    'a field that becomes nullable',
    `${partnerContract}.graphql`,
    /(type Referral \{[^]*?\n {2}status: ReferralStatus)!/,
    '$1',
  ],
  ['a renamed field', `${lenderContract}.graphql`, '  members: [TeamMember!]!', '  people: [TeamMember!]!'],
  [
    'an argument that becomes required',
    `${partnerContract}.graphql`,
    '    status: ReferralStatus\n',
    '    status: ReferralStatus!\n',
  ],
  [
    'an input field that becomes required',
    `${partnerContract}.graphql`,
    /(input CreateReferralInput \{[^]*?\n {2}note: String)\n/,
    '$1!\n',
  ],
  ['a payload field that becomes optional', `${convertedSchema}/2026-11-01.json`, '"matterId",', ''],
  [
    'a payload field that changes its type',
    `${convertedSchema}/2026-11-01.json`,
    /"convertedAt": \{\s*"type": "string"/,
    '"convertedAt": { "type": "integer"',
  ],
  ['a removed error code', `${lenderContract}.manifest.json`, '"WRONG_INTERFACE"', '"WRONG_API"'],
  ['a tightened limit', `${partnerContract}.manifest.json`, '"queryDepth": 10', '"queryDepth": 9'],
  [
    'an addition without a changeset',
    `${lenderContract}.graphql`,
    '  name: String!\n',
    '  name: String!\n  nickname: String\n',
  ],
  [
    'a breaking change to a preview without a changeset',
    `lender-schema/versions/2027-02-01.graphql`,
    '  lender: Lender!\n',
    '  lender: Lender\n',
  ],
  [
    'a version that is retired with a backdated deprecation',
    'partner-schema/versions.json',
    /"status": "current",\s*"deprecatedOn": null,\s*"sunsetOn": null/,
    '"status": "retired", "deprecatedOn": "2025-01-01", "sunsetOn": "2026-01-01"',
  ],
  [
    'a sunset without the promised 12 months',
    'partner-schema/versions.json',
    /"status": "current",\s*"deprecatedOn": null,\s*"sunsetOn": null/,
    '"status": "deprecated", "deprecatedOn": "2026-11-20", "sunsetOn": "2027-11-19"',
  ],
  [
    'a renamed delivery header',
    'webhook-events/delivery-headers.json',
    'X-Service-Webhook-Attempt',
    'X-Service-Attempt',
  ],
  ['a renamed error code of the library', 'webhook-signing/error-codes.json', 'TIMESTAMP_TOO_OLD', 'TIMESTAMP_EXPIRED'],
  ['a changed test vector', 'webhook-signing/test-vectors.json', '"toleranceSeconds": 0', '"toleranceSeconds": 1'],
  ['a renamed exported function', 'webhook-signing/api/web.api.json', '"verifyWebhook"', '"checkWebhook"'],
  ['a closed enum in the types', 'lender-schema/api/2026-11-01.api.json', /"'%future added value'",\s*/, ''],
])('contract-check rejects %s', async (_, file, from, to) => {
  edit(file, from, to);
  const { exitCode, text } = await check();
  expect(exitCode).toBe(1);
  expect(shown(text)).toMatchSnapshot();
});

test('contract-check rejects an event type that an interface loses', async () => {
  const lost = /("webhook\.test": \{\s*"interfaces": \[\s*"lender"),\s*"partner"/;
  edit('webhook-events/event-types.json', lost, '$1');
  const { exitCode, text } = await check();
  expect(exitCode).toBe(1);
  expect(text).toMatch(/major {2}\/webhook\.test\/interfaces\/partner\n/);
  expect(text).toContain('Failed: event-types.json breaks a released version, which no bump allows.');
});
