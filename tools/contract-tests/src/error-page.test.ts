import { readErrorPage } from '@deedwire/generate';
import { errorTable } from '@deedwire/graphql-server';
import { expect, test } from 'vitest';
import { readTable } from '../test/support/pages.ts';

const rows = Object.entries(errorTable)
  .map(([code, { status, jsonStatus, headers }]) => ({ code, status, jsonStatus, headers }))
  .toSorted((one, other) => (one.code < other.code ? -1 : 1));

test('docs/errors.md has a section for each error code, in alphabetical order, with its statuses', () => {
  expect(readErrorPage().map(({ code, status, jsonStatus }) => ({ code, status, jsonStatus }))).toEqual(
    rows.map(({ code, status, jsonStatus }) => ({ code, status, jsonStatus })),
  );
});

test('docs/errors.md says of each error code whether to send the request again', () => {
  const table = readTable('docs/errors.md', 'code');
  expect(table.at(-1)?.[0]).toBe('no response');
  const found = table.slice(0, -1).map(([code, statuses, again]) => [code, statuses, again === 'after `Retry-After`']);
  expect(found).toEqual(
    rows.map(({ code, status, jsonStatus, headers }) => [
      `[\`${code}\`](#${code.toLowerCase()})`,
      status === jsonStatus ? String(status) : `${status} · ${jsonStatus}`,
      'Retry-After' in headers,
    ]),
  );
});
