import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { workspaceRoot } from './support/workspace-copy.ts';

let folder: string;
const vectors = 'packages/webhook-signing/test-vectors.json';
const key = 'packages/auth/src/api-key.ts';
const published = 'packages/webhook-events/package.json';
const paths = [
  vectors,
  key,
  'packages/firm/src/names.ts',
  'packages/webhook-events/delivery-headers.json',
  published,
  'packages/webhook-events/releases.json',
  'docs/errors.md',
];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deedwire-names-'));
  const created = folder;
  onTestFinished(() => rmSync(created, { recursive: true }));
  for (const path of paths) cpSync(join(workspaceRoot, path), join(folder, path), { recursive: true });
  git('init', '--quiet');
  git('add', '--all');
  git('-c', 'user.name=T', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--message', 'Files');
});

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
}

function rename(...args: string[]) {
  const script = join(workspaceRoot, 'scripts/names.ts');
  try {
    return {
      code: 0,
      output: execFileSync(process.execPath, [script, ...args], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }),
    };
  } catch (error) {
    const { status, stderr } = Object(error);
    return { code: status, output: String(stderr) };
  }
}

const majorOf = (manifest: string): number => parseInt(JSON.parse(manifest).version, 10);
const read = (path: string): string => readFileSync(join(folder, path), 'utf8');

test('changes every name, and the checksums of example keys', () => {
  expect(rename('acme', 'ak', 'X-Acme', 'Acme-Webhooks')).toMatchObject({
    code: 0,
    output: expect.stringMatching(/^Changed 6 files/),
  });
  expect(majorOf(read(published))).toBe(majorOf(readFileSync(join(workspaceRoot, published), 'utf8')) + 1);
  const releases = Object.keys(JSON.parse(read('packages/webhook-events/releases.json')));
  expect(releases.at(-1)).toBe(JSON.parse(read(published)).version);
  const rest = paths
    .map(read)
    .join('')
    .replaceAll(/gid:\/\/service[^"]*/g, '');
  expect(rest).not.toMatch(/x-service|Deedwire-Webhooks|\bdw_|'service'/i);
  expect(read('packages/webhook-events/delivery-headers.json')).toContain('"X-Acme-Webhook-Attempt"');
  const [example = ''] = /ak_lender_\w+/.exec(read(key)) ?? [];
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  let checksum = 0;
  for (const digit of example.slice(-6)) checksum = checksum * 62 + digits.indexOf(digit);
  expect(checksum).toBe(crc32(example.slice(0, -6)));
  // Their signatures contain the identifiers.
  expect(read(vectors)).toContain('gid://service/');
});

test.each([
  [['acme', 'ak', 'X-Acme'], '"" does not match'],
  [['Acme', 'ak', 'X-Acme', 'Acme'], '"Acme" does not match'],
  [['acme', 'a_k', 'X-Acme', 'Acme'], '"a_k" does not match'],
  [['acme', 'ak', 'Acme', 'Acme'], '"Acme" does not match'],
])('refuses %j', (args, message) => {
  expect(rename(...args)).toEqual({ code: 2, output: expect.stringContaining(message) });
  expect(git('status', '--porcelain')).toBe('');
});

test('changes nothing in a tree with changes', () => {
  writeFileSync(join(folder, dirname(key), 'new.ts'), '');
  expect(rename('acme', 'ak', 'X-Acme', 'Acme-Webhooks')).toEqual({
    code: 1,
    output: expect.stringContaining('Nothing was written.'),
  });
  expect(git('diff')).toBe('');
});
