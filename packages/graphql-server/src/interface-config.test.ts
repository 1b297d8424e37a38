import { createHash } from 'node:crypto';
import { testService } from '@deedwire/core/test-service';
import { expect, test } from 'vitest';
import { readInterfaceConfig } from './interface-config.ts';

const env = {
  DATABASE_URL: 'postgres://supplier_api@db/deedwire?sslmode=verify-full',
  WEBHOOK_SECRET_KEYS: `k1:${createHash('sha256').digest('base64')}`,
};

test.each([
  [undefined, undefined],
  ['file:///srv/deedwire/docs', 'file:///srv/deedwire/docs'],
  ['https://docs.example', 'https://docs.example'],
  ['https://docs.example/deedwire/', 'https://docs.example/deedwire'],
  ['https://docs.example/für Kunden', 'https://docs.example/f%C3%BCr%20Kunden'],
])('reads DOCUMENTATION_URL %s as %s', (DOCUMENTATION_URL, expected) => {
  const config = readInterfaceConfig(testService, 'supplier', { ...env, DOCUMENTATION_URL });
  expect([config.PORT, config.DOCUMENTATION_URL]).toEqual([4005, expected]);
});

const readOrigin = (PORTAL_ORIGIN: string, NODE_ENV = 'production') =>
  readInterfaceConfig(testService, 'supplier', { ...env, PORTAL_ORIGIN, NODE_ENV }).PORTAL_ORIGIN;

test.each([
  ['https://portal.example', 'production'],
  ['https://portal.example:8443', 'production'],
  ['http://localhost:4001', 'test'],
  ['http://127.0.0.1:4001', 'development'],
  ['http://[::1]', 'development'],
])('accepts PORTAL_ORIGIN %s in %s', (origin, environment) => {
  expect(readOrigin(origin, environment)).toBe(origin);
});

test.each([
  ['https://portal.example/', 'production'],
  ['https://portal.example/portal', 'production'],
  ['https://Portal.example', 'production'],
  ['https://user@portal.example', 'production'],
  ['http://portal.example', 'development'],
  ['http://localhost.example', 'development'],
  ['http://localhost:4001', 'production'],
  ['ftp://portal.example', 'test'],
])('rejects PORTAL_ORIGIN %s in %s', (origin, environment) => {
  expect(() => readOrigin(origin, environment)).toThrow('PORTAL_ORIGIN must be');
});

test('reports problems of all variables together', () => {
  expect(() => readInterfaceConfig(testService, 'supplier', { DOCUMENTATION_URL: 'docs' })).toThrow(
    [
      '  DATABASE_URL is required',
      '  DOCUMENTATION_URL must be a URL that begins with https:// or http:// or file://',
      '  WEBHOOK_SECRET_KEYS is required',
    ].join('\n'),
  );
});
