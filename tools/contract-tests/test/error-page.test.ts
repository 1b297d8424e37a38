import { readErrorPage, readInterfaceContracts } from '@deedwire/generate';
import { errorTable } from '@deedwire/graphql-server';
import { expect, test } from 'vitest';

const documented = readErrorPage();

test('docs/errors.md has a section for each error code, in alphabetical order, with its statuses', () => {
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
)('the manifest of $name $version lists the codes and statuses of docs/errors.md', ({ manifest }) => {
  const promised = Object.entries(manifest.errors).map(([code, { status }]) => ({
    code,
    status: status['application/graphql-response+json'],
    jsonStatus: status['application/json'],
  }));
  // The servers send this code only for unknown paths, which are not part of an interface.
  const ofInterfaces = documented.filter(({ code }) => code !== 'NOT_FOUND');
  expect(promised.toSorted((one, other) => (one.code < other.code ? -1 : 1))).toEqual(
    ofInterfaces.map(({ code, status, jsonStatus }) => ({ code, status, jsonStatus })),
  );
});
