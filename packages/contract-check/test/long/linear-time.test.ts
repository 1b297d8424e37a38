import { expect, test } from 'vitest';
import { compareGraphql } from '../../src/graphql/compare-graphql.ts';
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
