import { expect, test } from 'vitest';

import { allotSlots } from './allot-slots.ts';

test.each<[string, number[], number, number[]]>([
  ['enough for all', [16, 3, 1], 100, [16, 3, 1]],
  ['one each before a second', [16, 16, 16], 4, [2, 1, 1]],
  ['what one cannot use goes to the others', [1, 16, 16], 7, [1, 3, 3]],
  ['nothing free', [16], 0, [0]],
  ['nothing wanted', [0, 0], 5, [0, 0]],
  ['no lanes', [], 5, []],
])('%s', (_, lanes, free, expected) => {
  expect(allotSlots(lanes, free)).toEqual(expected);
});
