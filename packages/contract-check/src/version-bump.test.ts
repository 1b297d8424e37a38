import { expect, test } from 'vitest';
import { publishedVersion } from './version-bump.ts';

test.each([
  ['1.2.0', '1.2.0'],
  ['v1.2.0', '1.2.0'],
  ['=1.2.0', '1.2.0'],
  [' v1.2.0\n', '1.2.0'],
  ['1.2.0-next.1+build', '1.2.0-next.1+build'],
  ['next', 'next'],
  [undefined, null],
])('npm publishes "version": %j as %j', (version, published) => {
  expect(publishedVersion(version)).toBe(published);
});
