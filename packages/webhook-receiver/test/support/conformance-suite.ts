import { expect, test } from 'vitest';
import type { Adapter } from './adapters.ts';
import { cases, check } from './conformance.ts';

/** Registers the tests of one adapter: each case that the platform can pass on to the receiver. */
export function testConformance(adapter: Adapter): void {
  const { isBuffered, excluded = [] } = adapter;

  test('excludes existing cases only', () => {
    expect(cases.map(({ name }) => name)).toEqual(expect.arrayContaining([...excluded]));
  });

  const included = cases.filter(({ name, streams }) => !(streams === true && isBuffered) && !excluded.includes(name));
  test.each(included)('$name', async (checked) => {
    await expect(check(checked, adapter)).resolves.toBeUndefined();
  });
}
