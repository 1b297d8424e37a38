import { expect, test } from 'vitest';
import { withArticles } from './type-names.ts';

test.each([
  [['Customer'], 'a Customer'],
  [['Order', 'Customer'], 'an Order or a Customer'],
  [['agent'], 'an agent'],
])('the types %j are %s', (types, text) => {
  expect(withArticles(types)).toBe(text);
});
