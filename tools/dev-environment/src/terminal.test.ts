import { describe, expect, test } from 'vitest';
import { outputWidth } from './terminal.ts';

describe('outputWidth', () => {
  test('is the width of the terminal', () => {
    expect(outputWidth({ columns: 80 })).toBe(80);
  });

  test('is 100 for a pipe, and for a terminal that does not know its size', () => {
    expect(outputWidth({})).toBe(100);
    expect(outputWidth({ columns: 0 })).toBe(100);
  });
});
