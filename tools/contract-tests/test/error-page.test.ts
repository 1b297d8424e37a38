import { errorTable } from '@deedwire/graphql-server';
import { readErrorPage, readInterfaceContracts } from '@deedwire/reference';
import { expect, test } from 'vitest';

const documented = readErrorPage();

test('docs/errors.md has a section for every code, in order, with the statuses that are sent', () => {
  expect(documented.map(({ code, status, jsonStatus }) => ({ code, status, jsonStatus }))).toEqual(
    Object.entries(errorTable)
      .map(([code, { status, jsonStatus }]) => ({ code, status, jsonStatus }))
      .toSorted((one, other) => (one.code < other.code ? -1 : 1)),
  );
});

test.each(
  readInterfaceContracts().flatMap(({ name, versions }) =>
    versions.map(({ version, manifest }) => ({ name, version, manifest })),
  ),
)('the manifest of $name $version promises those codes', ({ manifest }) => {
  const promised = Object.entries(manifest.errors).map(([code, { status }]) => ({
    code,
    status: status['application/graphql-response+json'],
    jsonStatus: status['application/json'],
  }));
  // Of every other path, so no part of an interface.
  const ofInterfaces = documented.filter(({ code }) => code !== 'NOT_FOUND');
  expect(promised.toSorted((one, other) => (one.code < other.code ? -1 : 1))).toEqual(
    ofInterfaces.map(({ code, status, jsonStatus }) => ({ code, status, jsonStatus })),
  );
});
