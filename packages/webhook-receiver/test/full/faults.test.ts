import { describe, expect, test } from 'vitest';
import { nodeAdapter } from '../support/adapters.ts';
import { cases, check } from '../support/conformance.ts';
import { faults } from '../support/faults.ts';

test('each case notices a faulty receiver', () => {
  expect(faults.flatMap(({ caughtBy }) => caughtBy).toSorted()).toEqual(cases.map(({ name }) => name).toSorted());
});

describe.each(faults)('a receiver that $name', ({ caughtBy, create }) => {
  test.each(caughtBy)('fails the case that it %s', async (name) => {
    const checked = cases.find((each) => each.name === name);
    if (checked === undefined) throw new Error(`There is no case "${name}".`);
    await expect(check(checked, nodeAdapter, create)).rejects.toThrow(/expected/);
  });
});
