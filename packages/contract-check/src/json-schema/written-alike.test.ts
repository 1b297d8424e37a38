import { expect, test } from 'vitest';
import { compareJsonSchemas } from './compare-json-schema.ts';

const rulesOf = (...schemas: unknown[]) => {
  const [from = '', to = ''] = schemas.map((each) => JSON.stringify(each));
  const sources = [
    { file: 'old.json', text: from },
    { file: 'new.json', text: to },
  ] as const;
  return compareJsonSchemas(...sources, { direction: 'producer' }).changes.map(
    ({ rule, coordinate }) => `${rule} ${coordinate}`,
  );
};

const retyped = (coordinate: string) => [
  `json-schema/typeAdded ${coordinate}`,
  `json-schema/typeRemoved ${coordinate}`,
];

test.each([
  ['properties/a', 'properties', { a: { type: 'string' } }, { a: { type: 'number' } }, retyped('$.a')],
  ['["properties","a"]', 'properties', { a: { type: 'string' } }, { a: { type: 'number' } }, retyped('$.a')],
  ['prefixItems/0', 'prefixItems', [{ type: 'string' }], [{ type: 'number' }], retyped('$[0]')],
  ['additionalProperties/', 'additionalProperties', { type: 'string' }, false, ['json-schema/objectClosed $']],
])('finds a change beside an unknown keyword %s', (unknown, keyword, before, now, changes) => {
  expect(rulesOf({ [keyword]: before, [unknown]: 1 }, { [keyword]: now, [unknown]: 1 })).toEqual(changes);
});
