import { describe, expect, test } from 'vitest';
import { pricedVersions, startLargestApi } from '../support/cost-property.ts';

const seed = 20_261_121;

describe.each(pricedVersions)('$name $version', ({ name, version }) => {
  test('2,000 random operations pay for their objects and bytes, and answer at most 1 MB', async () => {
    const api = await startLargestApi(name, version, 'x');
    try {
      const outcome = await api.run(seed, 2000);
      process.stdout.write(`${name} ${version}: ${JSON.stringify(outcome)}\n`);
      expect(outcome.problems).toEqual([]);
      expect(outcome.tooLarge).toBe(0);
      expect(outcome.executed).toBeGreaterThan(1000);
      expect(outcome.tooExpensive).toBeGreaterThan(20);
    } finally {
      await api.close();
    }
  });

  // The largest price assumes one byte per character; the actual one counts the bytes.
  test.each([
    ['an emoji', '\u{1F600}'],
    ['a control character, which JSON escapes', '\u0001'],
  ])('500 random operations answer at most 1 MB when texts consist of %s', async (_, character) => {
    const api = await startLargestApi(name, version, character);
    try {
      const outcome = await api.run(seed, 500);
      process.stdout.write(`${name} ${version}: ${JSON.stringify(outcome)}\n`);
      expect(outcome.problems).toEqual([]);
    } finally {
      await api.close();
    }
  });
});
