import { readErrorPage } from '@deedwire/generate';
import { errorTable } from '@deedwire/graphql-server';
import { expect, test } from 'vitest';

test('docs/errors.md has a section for each error code, in alphabetical order, with its statuses', () => {
  expect(readErrorPage().map(({ code, status, jsonStatus }) => ({ code, status, jsonStatus }))).toEqual(
    Object.entries(errorTable)
      .map(([code, { status, jsonStatus }]) => ({ code, status, jsonStatus }))
      .toSorted((one, other) => (one.code < other.code ? -1 : 1)),
  );
});
