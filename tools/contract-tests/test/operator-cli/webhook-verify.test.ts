import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { callOperator, callOperatorWith, type OperatorResult } from '@deedwire/dev-environment/harness';
import { missing, startReceiver } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { generateWebhookSecret, signWebhook } from '@deedwire/webhook-signing';
import { describe, expect, test } from 'vitest';
import { startOperator } from '../support/cells/operator-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const { path: folder } = await forFile(temporaryFolder('webhook-verify'));

const file = async (name: string, content: string | Uint8Array): Promise<string> => {
  await writeFile(join(folder, name), content);
  return join(folder, name);
};

const secret = generateWebhookSecret();
const env = { WEBHOOK_SECRET: secret };
const body = '{"name":"Zürich","note":"$(x) `y` \'z\'"}';
const at = '2026-11-03T09:30:01Z';
const headers = signWebhook({
  prefix: 'X-Service',
  id: 'gid://service/WebhookDelivery/4711',
  timestamp: Date.parse(at) / 1_000,
  body,
  secret,
});
const http = (text = body): string =>
  `POST /hook HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${text}`;

const verify = (input: string, ...more: string[]): Promise<OperatorResult> =>
  callOperatorWith({ env, input: Buffer.from(input) }, 'webhook', 'verify', '--at', at, ...more);

const accepted = { exitCode: 0, stdout: 'Accepted: the request was signed with the secret.\n', stderr: '' };

describe('a request that is right', () => {
  test('is accepted from standard input and from a file, in each form', async () => {
    expect(await verify(http())).toEqual(accepted);
    expect(await verify(JSON.stringify({ headers, body }))).toEqual(accepted);
    const capture = await file('request.http', http());
    expect(await callOperator(env, 'webhook', 'verify', capture, '--at', at)).toEqual(accepted);
    const headersOnly = await file('headers.txt', http(''));
    const bodyOnly = await file('body.json', body);
    expect(await callOperator(env, 'webhook', 'verify', headersOnly, '--body', bodyOnly, '--at', at)).toEqual(accepted);
    expect(await verify(body, headersOnly, '--body', '-')).toEqual(accepted);
  });

  test('is accepted with the secret of a file, and of two in standard input', async () => {
    const capture = await file('request.http', http());
    const secretFile = await file('secret', `${secret}\n`);
    expect(await callOperator({}, 'webhook', 'verify', capture, '--secret-file', secretFile, '--at', at)).toEqual(
      accepted,
    );
    expect(await callOperator({ WEBHOOK_SECRET_FILE: secretFile }, 'webhook', 'verify', capture, '--at', at)).toEqual(
      accepted,
    );
    const two = Buffer.from(`${generateWebhookSecret()}\n${secret}\n`);
    const ofInput = ['webhook', 'verify', capture, '--secret-file', '-', '--at', at];
    const { exitCode, stdout } = await callOperatorWith({ env: {}, input: two }, ...ofInput);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^Accepted: the request was signed with secret 2 of 2\.\n\nOTHER_SECRET\n  Only secret 2 of 2 matches\./,
    );
  });
});

describe('a request that is wrong', () => {
  test('is rejected with each cause and what to do, and exit code 1', async () => {
    expect(await verify(http(`${body}\n`))).toEqual({
      exitCode: 1,
      stdout: [
        'Rejected with SIGNATURE_MISMATCH. The signature was made with the secret; what follows is wrong.',
        '',
        'BODY_TRAILING_NEWLINE',
        '  The body has an additional line break at its end.',
        '  An editor or a shell (`echo`, `<<<`) adds one. Verify the bytes as they arrive, before anything parses, decodes or formats them, and capture these bytes.',
        '',
      ].join('\n'),
      stderr: 'error: A receiver rejects the request: SIGNATURE_MISMATCH.\n',
    });
  });

  test('is one JSON document, and the error another, with --json', async () => {
    const later = ['--json', '--at', '2026-11-03T10:30:01Z'];
    const result = await callOperatorWith({ env, input: Buffer.from(http()) }, 'webhook', 'verify', ...later);
    expect(result.exitCode).toBe(1);
    expect(JSON.parse(result.stdout)).toEqual({
      isAccepted: false,
      rejection: 'TIMESTAMP_TOO_OLD',
      matchingSecrets: [1],
      findings: [
        {
          code: 'TIMESTAMP_TOO_OLD',
          isProven: true,
          problem: 'The request was signed 3,600 seconds ago. The tolerance is 300.',
          remedy: expect.any(String),
        },
      ],
    });
    expect(JSON.parse(result.stderr)).toEqual({
      error: { code: 'FAILED', message: 'A receiver rejects the request: TIMESTAMP_TOO_OLD.' },
    });
  });

  test('never shows a secret, including one that is wrong', async () => {
    const rest = secret.slice('whsec_'.length);
    for (const given of [rest, `${secret} `, generateWebhookSecret(), `X=${secret}`]) {
      for (const form of [[], ['--json']]) {
        const surroundings = { env: { WEBHOOK_SECRET: given }, input: Buffer.from(http()) };
        const { stdout, stderr } = await callOperatorWith(surroundings, 'webhook', 'verify', '--at', at, ...form);
        expect(stdout + stderr).not.toContain(rest);
        expect(stdout + stderr).not.toContain(given.trim());
      }
    }
  });
});

describe('a command that cannot run', () => {
  test.each<[string, string[], RegExp, number]>([
    ['no request', [], /^error: The request cannot be read\. The capture is empty\./, 1],
    ['no file', ['/none/request.http'], /^error: \/none\/request\.http cannot be read\. \(ENOENT/, 1],
    ['a secret as an argument', ['--secret', 'whsec_x'], /^error: unknown option '--secret'/, 2],
    ['two readers of standard input', ['--body', '-'], /^error: only one of the request, its body and its secrets/, 2],
    ['a malformed time', ['--at', 'tomorrow'], /^error: option '--at <time>' argument 'tomorrow' is invalid/, 2],
  ])('%s', async (_, more, message, exitCode) => {
    const result = await callOperator(env, 'webhook', 'verify', ...more);
    expect(result).toMatchObject({ exitCode, stdout: '' });
    expect(result.stderr).toMatch(message);
  });

  test('without a secret, with too much input, and at a terminal', async () => {
    const none = await callOperatorWith({ env: {}, input: Buffer.from(http()) }, 'webhook', 'verify');
    expect(none.stderr).toBe(
      'error: There is no secret. Set WEBHOOK_SECRET or WEBHOOK_SECRET_FILE, or pass --secret-file <file>.\n',
    );
    const large = await verify(http('x'.repeat(4_000_001)));
    expect(large).toMatchObject({ exitCode: 1, stderr: 'error: Standard input is larger than 4,000,000 bytes.\n' });
  });
});

test('as a process, with what a server has received and a pipe', async () => {
  const receiver = await startReceiver();
  await fetch(receiver.url, { method: 'POST', headers, body });
  await receiver.close();
  const [{ rawHeaders, body: received } = missing()] = receiver.deliveries;
  const captured = JSON.stringify({ headers: rawHeaders, body: received.toString() });
  const { exitCode, stdout } = await startOperator(['webhook', 'verify', '--at', at, '--json'], env, captured).ended;
  expect({ exitCode, result: JSON.parse(stdout) }).toEqual({
    exitCode: 0,
    result: { isAccepted: true, rejection: null, matchingSecrets: [1], findings: [] },
  });
});
