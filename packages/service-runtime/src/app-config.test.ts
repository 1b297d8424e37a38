import { expect, test } from 'vitest';
import { appConfig } from './app-config.ts';
import { readConfig } from './config.ts';

const schema = appConfig({ adminPort: 4101 });
const secretKey = Buffer.alloc(32, 7).toString('base64');
const usable = { DATABASE_URL: 'postgres://lender_api@db/deedwire', WEBHOOK_SECRET_KEYS: `k1:${secretKey}` };

test('applies defaults when only the required variables are set', () => {
  expect(readConfig(schema, usable)).toEqual({
    ADMIN_PORT: 4101,
    ADMIN_HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
    DATABASE_URL: usable.DATABASE_URL,
    DOCUMENTATION_URL: 'https://deedwire.example/docs',
    GID_NAMESPACE: 'service',
    SLOW_STATEMENT_MS: 500,
    WEBHOOK_SECRET_KEYS: new Map([['k1', Buffer.alloc(32, 7)]]),
    WEBHOOK_CALLBACK_POLICY: 'public',
  });
});

test('reports all problems in one error, including those of combinations, without secrets', () => {
  const env = {
    DATABASE_URL: 'mysql://root:hunter2@db',
    WEBHOOK_SECRET_KEYS: 'k1:hunter2',
    GID_NAMESPACE: 'Service',
    WEBHOOK_CALLBACK_POLICY: 'development',
    NODE_ENV: 'production',
  };
  expect(() => readConfig(schema, env)).toThrow(
    [
      'The configuration is invalid:',
      '  DATABASE_URL must be a URL that begins with postgres:// or postgresql://',
      '  GID_NAMESPACE must consist of lowercase letters, digits and hyphens, and begin with a letter',
      '  WEBHOOK_SECRET_KEYS must be <key id>:<base64 of 32 bytes>, several separated by commas; entry 1 is not',
      '  WEBHOOK_CALLBACK_POLICY must not be development unless NODE_ENV is development or test',
    ].join('\n'),
  );
});

test.each([undefined, 'production'])('rejects what is not safe when NODE_ENV is %s', (NODE_ENV) => {
  const env = { ...usable, NODE_ENV };
  expect(() => readConfig(schema, { ...env, WEBHOOK_CALLBACK_POLICY: 'development' })).toThrow(
    'WEBHOOK_CALLBACK_POLICY must not be development',
  );
  expect(() => readConfig(schema, { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toThrow(
    'NODE_TLS_REJECT_UNAUTHORIZED must not be 0',
  );
});

test.each(['development', 'test'])('accepts the callback policy development when NODE_ENV is %s', (NODE_ENV) => {
  const env = { ...usable, NODE_ENV, WEBHOOK_CALLBACK_POLICY: 'development', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(readConfig(schema, env)).toMatchObject({ NODE_ENV, WEBHOOK_CALLBACK_POLICY: 'development' });
});

test('rejects NODE_TLS_REJECT_UNAUTHORIZED=0 with the public callback policy, also in development', () => {
  const env = { ...usable, NODE_ENV: 'development', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(() => readConfig(schema, env)).toThrow('NODE_TLS_REJECT_UNAUTHORIZED must not be 0');
});
