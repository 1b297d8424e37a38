import { describe, expect, test } from 'vitest';
import { pricedVersions, startLargestApi } from '../support/cost-property.ts';

const seed = 20_261_121;
/** Twice what 20 ms were on the machine of 0042. */
const maxRatio = 16;

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

  test('1,000 points of 150 random operations take at most 16 times the CPU time of a megabyte of JSON', async () => {
    const api = await startLargestApi(name, version, 'x');
    try {
      const outcome = await api.measureCpu(seed, 150);
      process.stdout.write(`${name} ${version}: ${JSON.stringify(outcome).slice(0, 2000)}\n`);
      expect(outcome.measured).toBe(150);
      expect(outcome.largest.filter(({ ratio }) => ratio > maxRatio)).toEqual([]);
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
