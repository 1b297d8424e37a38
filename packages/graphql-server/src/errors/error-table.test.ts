import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { refusalStatuses } from '@deedwire/service-runtime';
import { expect, test } from 'vitest';
import { errorTable } from './error-table.ts';

const packages = join(import.meta.dirname, '../../..');
const sources = globSync(['graphql-server/src/**/*.ts', 'service-runtime/src/**/*.ts'], { cwd: packages })
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => readFileSync(join(packages, path), 'utf8'));

// The ways in which the sources name the code of an error of the transport.
const emitted = /new RequestError\(\s*'([A-Z_]+)'|\bcode: '([A-Z_]+)'|\['STORE_\w+', '([A-Z_]+)'\]/g;

test('every code in the sources of the servers is in the table', () => {
  const codes = new Set(
    sources.flatMap((text) => [...text.matchAll(emitted)].map(([, ...groups]) => groups.find((code) => code) ?? '')),
  );
  expect([...codes].filter((code) => !(code in errorTable))).toEqual([]);
  // Otherwise the pattern above misses a way of naming a code.
  const rest = Object.keys(errorTable).filter((code) => !codes.has(code));
  expect(rest).toEqual([]);
});

test('the HTTP layer and the table agree on the statuses', () => {
  const statuses = Object.keys(refusalStatuses).map((code) => {
    const row = Object.entries(errorTable).find(([name]) => name === code)?.[1];
    return [code, row?.status];
  });
  expect(Object.fromEntries(statuses)).toEqual(refusalStatuses);
});
