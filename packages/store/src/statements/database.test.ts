import { expect, test } from 'vitest';
import { sql } from './database.ts';

const one = (name: string, value: number | string) => sql(name)`select ${value}`;

test('a template is written once, as long as its name and its values stay the same', () => {
  const first = one('one', 1);
  expect(first).toEqual({ name: 'one', text: 'select 1' });
  expect(one('one', 1)).toBe(first);
  expect(one('one', '1')).toEqual({ name: 'one', text: 'select 1' });
  expect(one('one', 2)).toEqual({ name: 'one', text: 'select 2' });
  expect(one('two', 2)).toEqual({ name: 'two', text: 'select 2' });
});
