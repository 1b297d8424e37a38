import { expect, test } from 'vitest';
import { anchor, anchorsOf, table } from './markdown.ts';

test('aligns all columns of a table but the last, and escapes cell separators', () => {
  expect(
    table(
      ['name', 'description'],
      [
        ['`é`', 'one|two'],
        ['`longer`', 'over\n  two lines'],
      ],
    ),
  ).toBe('| name     | description |\n| -------- | --- |\n| `é`      | one\\|two |\n| `longer` | over two lines |');
});

test('generates the anchors that GitHub generates', () => {
  expect(anchor('query webhookEventTypes')).toBe('#query-webhookeventtypes');
  expect(anchor('BAD_REQUEST')).toBe('#bad_request');
  expect(anchor('order.placed, 2026-11-01')).toBe('#orderplaced-2026-11-01');
  expect(anchorsOf('# One\n\n```sh\n# a comment\n```\n\n## Two\n')).toEqual(['#one', '#two']);
});
