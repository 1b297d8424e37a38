import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { expect, test } from 'vitest';
import { matters, respond } from './readme-example.ts';

test('the README contains the tested example', () => {
  const example = readFileSync(join(import.meta.dirname, 'readme-example.ts'), 'utf8');
  expect(readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\`\n`);
});

test('the README lists every version of every type', () => {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const listed = [...readme.matchAll(/^\| `([a-z_]+\.[a-z_]+)` *\| ([\d-]+)(?:, (\w+))? *\| (\w+)/gm)];
  expect(listed.map(([, ...row]) => row)).toEqual(
    webhookEventTypes.flatMap(({ type, interfaces, versions }) =>
      versions.map(({ version, status }) => [
        type,
        version,
        status === 'current' ? undefined : status,
        interfaces.length > 1 ? 'both' : interfaces[0],
      ]),
    ),
  );
});

function post(body: unknown) {
  return respond(Buffer.from(JSON.stringify(body)));
}

test('the README example responds to a handshake, an event, an unknown version and a malformed body', () => {
  const event = {
    id: 'gid://service/WebhookEvent/1',
    type: 'referral.converted',
    version: '2026-11-01',
    timestamp: '2026-11-03T09:30:00.123Z',
    data: {
      referralId: 'gid://service/Referral/42',
      externalReference: null,
      matterId: 'gid://service/Matter/7',
      convertedAt: '2026-11-03T09:30:00.123Z',
    },
  };
  expect(post({ verification_token: 't0' })).toEqual({ status: 200, body: '{"verification_token":"t0"}' });
  expect(post(event)).toEqual({ status: 200, body: '' });
  expect([...matters]).toEqual([['gid://service/Referral/42', 'gid://service/Matter/7']]);
  expect(post({ ...event, version: '2031-01-01' })).toEqual({ status: 200, body: '' });
  expect(post({}).status).toBe(400);
});
