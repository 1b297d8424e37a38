import { createHash } from 'node:crypto';
import { readConfig } from '@deedwire/service-runtime';
import { expect, test } from 'vitest';
import { interfaceConfig } from './interface-config.ts';

const env = {
  DATABASE_URL: 'postgres://lender_api@db/deedwire?sslmode=verify-full',
  WEBHOOK_SECRET_KEYS: `k1:${createHash('sha256').digest('base64')}`,
};

test.each([
  [undefined, 'https://deedwire.example/docs'],
  ['https://docs.example', 'https://docs.example'],
  ['https://docs.example/deedwire/', 'https://docs.example/deedwire'],
  ['https://docs.example/für Kunden', 'https://docs.example/f%C3%BCr%20Kunden'],
])('reads DOCUMENTATION_URL %s as %s', (DOCUMENTATION_URL, expected) => {
  expect(readConfig(interfaceConfig({ port: 4001, adminPort: 4101 }), { ...env, DOCUMENTATION_URL })).toMatchObject({
    PORT: 4001,
    DOCUMENTATION_URL: expected,
  });
});

test('reports problems of all variables together', () => {
  expect(() => readConfig(interfaceConfig({ port: 4001, adminPort: 4101 }), { DOCUMENTATION_URL: 'docs' })).toThrow(
    [
      '  DATABASE_URL is required',
      '  DOCUMENTATION_URL must be a URL that begins with https:// or http://',
      '  WEBHOOK_SECRET_KEYS is required',
    ].join('\n'),
  );
});
