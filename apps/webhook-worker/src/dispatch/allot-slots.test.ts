import { expect, test } from 'vitest';
import { allotSlots } from './allot-slots.ts';

const idle = (cap: number) => ({ inFlight: 0, cap });
const busy = (inFlight: number) => ({ inFlight, cap: 16 });

test.each<[string, { inFlight: number; cap: number }[], number, number, number[]]>([
  ['enough for all', [idle(16), idle(3), idle(1)], 100, 0, [16, 3, 1]],
  ['one each before a second', [idle(16), idle(16), idle(16)], 4, 0, [2, 1, 1]],
  ['what one cannot use goes to the others', [idle(1), idle(16), idle(16)], 7, 0, [1, 3, 3]],
  ['what is under way counts', [busy(15), busy(10)], 100, 0, [1, 6]],
  ['nothing free', [idle(16)], 0, 0, [0]],
  ['nothing wanted', [busy(16), idle(0)], 5, 0, [0, 0]],
  ['no lanes', [], 5, 2, []],
  ['the reserve is not for a second slot', [idle(16), idle(16)], 6, 4, [1, 1]],
  ['the reserve is not for a lane with something under way', [busy(3), idle(16)], 4, 4, [0, 1]],
  ['the reserve is for first slots', [idle(16), idle(16), idle(16)], 3, 4, [1, 1, 1]],
  ['beyond the reserve, in turn', [busy(1), busy(1)], 9, 4, [3, 2]],
])('%s', (_, lanes, free, reserved, expected) => {
  expect(allotSlots(lanes, free, reserved)).toEqual(expected);
});
