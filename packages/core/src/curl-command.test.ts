import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlCommand } from './curl-command.ts';

test.each([`it's {"a":1}`, 'back\\slash \\n', 'hidden \u202E \r \\ and\nlines'])(
  'the shell gets the body %j',
  (body) => {
    const script = curlCommand({ url: 'https://crm.example/a?b=[1]', headers: [], body }).replace(/\|\n[\s\S]*/, '');
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(body);
  },
);

test('quotes headers, and leaves out what curl computes', () => {
  const headers = [
    ['Host', 'crm.example'],
    ['webhook-id', `it's $(id)`],
  ] as const;
  const command = curlCommand({ url: `https://crm.example/'`, headers, body: '{}' });
  expect(command).toContain(String.raw`--header 'webhook-id: it'\''s $(id)'`);
  expect(command).toContain(String.raw`--url 'https://crm.example/'\'''`);
  expect(command).not.toContain('Host');
});
