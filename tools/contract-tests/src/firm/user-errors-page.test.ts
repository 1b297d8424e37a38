import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { readTable, schemas } from '../../test/support/pages.ts';

test('docs/user-errors.md has a row for each code of a user error, in alphabetical order', () => {
  const codes = schemas
    .flatMap((sdl) => parse(sdl, { noLocation: true }).definitions)
    .flatMap((type) => (type.kind === 'EnumTypeDefinition' && type.name.value.endsWith('UserErrorCode') ? [type] : []))
    .flatMap(({ values = [] }) => values.map(({ name }) => name.value));
  expect(readTable('docs/user-errors.md', 'code').map(([code]) => code)).toEqual(
    [...new Set(codes)].toSorted().map((code) => `\`${code}\``),
  );
});
