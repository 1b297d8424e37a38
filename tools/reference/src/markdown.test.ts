import { expect, test } from 'vitest';
import { anchor, anchorsOf, table } from './markdown.ts';

test('a table stands in line but for its last column, and keeps its cells apart', () => {
  expect(
    table(
      ['name', 'what it is'],
      [
        ['`é`', 'one|two'],
        ['`longer`', 'over\n  two lines'],
      ],
    ),
  ).toBe('| name     | what it is |\n| -------- | --- |\n| `é`      | one\\|two |\n| `longer` | over two lines |');
});

test('anchors are those that GitHub makes', () => {
  expect(anchor('query webhookEventTypes')).toBe('#query-webhookeventtypes');
  expect(anchor('BAD_REQUEST')).toBe('#bad_request');
  expect(anchor('referral.converted, 2026-11-01')).toBe('#referralconverted-2026-11-01');
  expect(anchorsOf('# One\n\n```sh\n# a comment\n```\n\n## Two\n')).toEqual(['#one', '#two']);
});
