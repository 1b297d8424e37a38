import { expect, test } from 'vitest';
import { compareAppendOnly } from './compare-append-only.ts';

const vectors = {
  description: 'Vectors.',
  codes: { MISSING: 'gone', TOO_OLD: {} },
  verify: [
    { name: 'accepts', headers: ['a', 'b'], accept: true },
    { name: 'rejects', why: 'late', reject: 'TOO_OLD' },
  ],
};
const [accepting, rejecting] = vectors.verify;

function source(value: object) {
  return { file: 'vectors.json', text: JSON.stringify(value) };
}

function compare(to: object): string[] {
  const { changes } = compareAppendOnly(source(vectors), source(to));
  return changes.map(({ verdict, rule, coordinate }) => `${verdict} ${rule} ${coordinate}`);
}

test.each<[string, object, string[]]>([
  ['nothing', vectors, []],
  ['another order', { ...vectors, verify: [rejecting, accepting] }, []],
  [
    'an added element',
    { ...vectors, verify: [{ name: 'new' }, ...vectors.verify] },
    ['minor append-only/entryAdded /verify/-'],
  ],
  [
    'an added member',
    { ...vectors, codes: { ...vectors.codes, NEW: {} } },
    ['minor append-only/entryAdded /codes/NEW'],
  ],
  ['a description', { ...vectors, description: 'Test vectors.' }, ['patch append-only/entryDescribed /description']],
  ['a removed element', { ...vectors, verify: [accepting] }, ['major append-only/entryRemoved /verify/rejects']],
  [
    'a changed element',
    { ...vectors, verify: [{ ...accepting, headers: ['a'] }, rejecting] },
    ['major append-only/entryRemoved /verify/accepts', 'minor append-only/entryAdded /verify/-'],
  ],
  [
    'a renamed member',
    { ...vectors, codes: { MISSING: 'gone', TOO_LATE: {} } },
    ['major append-only/entryRemoved /codes/TOO_OLD', 'minor append-only/entryAdded /codes/TOO_LATE'],
  ],
  [
    'a changed value',
    { ...vectors, codes: { ...vectors.codes, MISSING: 'lost' } },
    ['major append-only/entryRemoved /codes/MISSING'],
  ],
])('compares %s', (_, to, expected) => {
  expect(compare(to)).toEqual(expected);
});

test('does not count a changed reason in an element', () => {
  expect(compare({ ...vectors, verify: [accepting, { ...rejecting, why: 'too late' }] })).toEqual([]);
});
