import { expect, test } from 'vitest';
import { compareGraphql } from '../../src/graphql/compare-graphql.ts';
import { TooManyStepsError } from '../../src/input-error.ts';
import { compareJsonSchemas } from '../../src/json-schema/compare-json-schema.ts';
import { chainOfDefinitions, chainOfTypes } from '../support/chains.ts';

/** Each takes a few seconds of CPU time. The bound only distinguishes linear from quadratic time. */
const maxCpuMs = 60_000;

/** CPU time, because a busy machine can need many times that on the clock. */
function cpuMsOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test('compares 10,000 definitions in linear time', () => {
  const { from, to } = chainOfDefinitions(10_000);
  const cpuMs = cpuMsOf(() => {
    const report = compareJsonSchemas({ file: 'a', text: from }, { file: 'b', text: to }, { direction: 'producer' });
    expect(report.changes).toHaveLength(10_000);
  });
  expect(cpuMs).toBeLessThan(maxCpuMs);
});

test('compares 10,000 types in linear time', () => {
  const { from, to } = chainOfTypes(10_000);
  const cpuMs = cpuMsOf(() => {
    const report = compareGraphql({ file: 'a', text: from }, { file: 'b', text: to });
    expect(report.changes).toHaveLength(10_000);
  });
  expect(cpuMs).toBeLessThan(maxCpuMs);
});

function compareBoth(from: object, to: object) {
  const [old, now] = [from, to].map((schema) => ({ file: 'a.json', text: JSON.stringify(schema) }));
  if (old === undefined || now === undefined) throw new Error('unreachable');
  return compareJsonSchemas(old, now, { direction: 'both' });
}

test('compares an allOf with 150,000 branches', () => {
  const branches = Array.from({ length: 150_000 }, () => ({ type: 'string' }));
  const { changes } = compareBoth(
    { allOf: [...branches, { minLength: 1 }] },
    { allOf: [...branches, { minLength: 2 }] },
  );
  expect(changes.map(({ rule }) => rule)).toEqual(['json-schema/boundTightened']);
});

test('counts the steps of many conditions in another order', () => {
  const negations = Array.from({ length: 900 }, (_, index) => ({ not: { required: [`p${index}`] } }));
  expect(() => compareBoth({ allOf: negations }, { allOf: negations.toReversed() })).toThrow(TooManyStepsError);
});
