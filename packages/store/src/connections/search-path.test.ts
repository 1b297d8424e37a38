import { expect, onTestFinished, test, vi } from 'vitest';
import { connectionOptions } from './connection-options.ts';
import { searchPathOf, withSchema } from './search-path.ts';

test('names our schema alone, and temporary objects last', () => {
  expect(searchPathOf('deedwire')).toBe('"deedwire", pg_temp');
  expect(searchPathOf('a "b"')).toBe('"a ""b""", pg_temp');
});

test.each([
  ['postgres://ada:secret@db.test/shop', String.raw`-c search_path="deedwire",\ pg_temp`],
  [
    'postgres://db.test/shop?sslmode=disable&options=-c%20search_path%3Dpublic',
    String.raw`-c search_path=public -c search_path="deedwire",\ pg_temp`,
  ],
])('%s keeps its other parameters', (url, options) => {
  const { options: _, ...before } = connectionOptions(url);
  expect(connectionOptions(withSchema(url, 'deedwire'))).toEqual({ ...before, options });
});

test('the settings of PGOPTIONS stay, and come first', () => {
  vi.stubEnv('PGOPTIONS', '-c work_mem=1MB -c search_path=public');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(connectionOptions(withSchema('postgres://db.test/shop', 'deedwire')).options).toBe(
    String.raw`-c work_mem=1MB -c search_path=public -c search_path="deedwire",\ pg_temp`,
  );
});

test('a space and a backslash in the name are escaped', () => {
  expect(connectionOptions(withSchema('postgres://db.test/shop', String.raw`a b\c`)).options).toBe(
    String.raw`-c search_path="a\ b\\c",\ pg_temp`,
  );
});
