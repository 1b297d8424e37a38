import { expect, test } from 'vitest';
import { distTagOf, predecessorOf } from './plan.ts';
import { ReleaseError } from './release-error.ts';

test.each<[version: string, published: string[], tag: string, predecessor: string | null]>([
  ['1.0.0', [], 'latest', null],
  ['1.4.1', ['1.0.0', '1.4.0'], 'latest', '1.4.0'],
  ['2.0.0', ['1.4.0'], 'latest', '1.4.0'],
  ['1.4.1', ['1.4.0', '2.0.0'], 'latest-1', '1.4.0'],
  ['1.4.1', ['2.0.0', '1.4.0', '10.0.0', '1.3.9'], 'latest-1', '1.4.0'],
  ['1.4.1', ['1.4.0', '1.5.0'], 'latest-1.4', '1.4.0'],
  ['1.4.1', ['1.4.0', '1.5.0', '2.0.0'], 'latest-1.4', '1.4.0'],
  ['1.10.0', ['1.9.0'], 'latest', '1.9.0'],
  ['1.9.1', ['1.9.0', '1.10.0'], 'latest-1.9', '1.9.0'],
  ['2.0.1', ['2.0.0', '3.0.0-rc.1'], 'latest', '2.0.0'],
  ['1.0.0', ['2.0.0'], 'latest-1', null],
])('publishes %s after %j as %s and compares it with %s', (version, published, tag, predecessor) => {
  expect(distTagOf(version, published)).toBe(tag);
  expect(predecessorOf(version, published)).toBe(predecessor);
});

test('rejects a pre-release', () => {
  expect(() => distTagOf('2.0.0-rc.1', [])).toThrow(ReleaseError);
  expect(() => predecessorOf('2.0.0-rc.1', [])).toThrow(
    '2.0.0-rc.1 is not a release: only versions such as 1.2.3 are published.',
  );
});
