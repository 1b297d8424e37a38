import { expect, test } from 'vitest';
import { z } from 'zod';
import { urlVariable, wholeNumberVariable } from './config-variables.ts';
import { ConfigError, readConfig } from './config.ts';
import { runtimeConfig } from './runtime-config.ts';

const schema = z
  .object({
    ...runtimeConfig,
    ADMIN_PORT: runtimeConfig.ADMIN_PORT.default(4101),
    DATABASE_URL: urlVariable('postgres', 'postgresql'),
  })
  .refine(({ ADMIN_HOST, NODE_ENV }) => !(ADMIN_HOST === 'everywhere' && NODE_ENV === 'production'), {
    path: ['ADMIN_HOST'],
    error: 'must not be "everywhere" in production',
    when: () => true,
  });
const databaseUrl = 'postgres://lender_api:hunter2@db.internal/deedwire';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(schema, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

test('reads the variables that are set and applies defaults to the others', () => {
  expect(readConfig(schema, { DATABASE_URL: databaseUrl, ADMIN_PORT: ' 0 ', ADMIN_HOST: '', UNRELATED: 'x' })).toEqual({
    DATABASE_URL: databaseUrl,
    ADMIN_PORT: 0,
    ADMIN_HOST: '127.0.0.1',
    DEEDWIRE_COMMIT: 'unknown',
    LOG_LEVEL: 'info',
    NODE_ENV: 'production',
  });
});

test('reports all problems in one error, without values', () => {
  const env = {
    DATABASE_URL: 'mysql://root:hunter2@db',
    ADMIN_PORT: '65536',
    ADMIN_HOST: 'everywhere',
    LOG_LEVEL: 'loud',
    NODE_ENV: 'production',
  };
  expect(problemsOf(env)).toEqual([
    'ADMIN_PORT must be a whole number from 0 to 65535',
    'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent',
    'DATABASE_URL must be a URL that begins with postgres:// or postgresql://',
    'ADMIN_HOST must not be "everywhere" in production',
  ]);
  expect(problemsOf({})).toEqual(['DATABASE_URL is required']);
  expect(() => readConfig(schema, {})).toThrow('The configuration is invalid:\n  DATABASE_URL is required');
});

test.each(['-1', '1.5', '1e3', '0x10', 'ten', '9'.repeat(16), '9'.repeat(400)])(
  'rejects %s as a whole number from 0 to 5000',
  (text) => {
    expect(wholeNumberVariable({ min: 0, max: 5000 }).safeParse(text).success).toBe(false);
  },
);

test.each(['db', 'localhost:5432/db', 'http://localhost/db', '//localhost/db'])(
  'rejects %s as a database URL',
  (text) => {
    expect(urlVariable('postgres').safeParse(text).success).toBe(false);
  },
);
