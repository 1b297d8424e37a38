import { expect, it } from 'vitest';
import { comparisonMarkdown, contestantResults } from './comparison.ts';

function round(operations: number, cpuMs: number) {
  return { operations, cpuMs, elapsedMs: 1000 };
}

it('compares each round with the baseline in the same round', () => {
  // In the second round, other load halves the rate of both.
  const measured = new Map([
    ['ours', [round(100, 10), round(50, 10), round(100, 10)]],
    ['peer', [round(200, 40), round(100, 40), round(200, 40)]],
  ]);
  expect(contestantResults(measured, 'peer')).toEqual([
    { name: 'ours', perSecond: 100, cpuMicroseconds: 100, rateRatio: 0.5, cpuRatio: 0.5 },
    { name: 'peer', perSecond: 200, cpuMicroseconds: 200, rateRatio: 1, cpuRatio: 1 },
  ]);
});

const report = {
  bench: 'sender',
  quick: false,
  machine: { node: 'v26.10.0', platform: 'linux x64', cpu: 'AMD EPYC', cores: 2 },
  rounds: 5,
  roundMs: 1000,
  comparisons: [
    {
      title: 'POST',
      operation: 'delivery',
      baseline: 'undici',
      results: [
        { name: 'undici', perSecond: 50_000.4, cpuMicroseconds: 20, rateRatio: 1, cpuRatio: 1 },
        { name: 'webhook-sender', perSecond: 4000, cpuMicroseconds: 22.26, rateRatio: 0.08, cpuRatio: 1.113 },
      ],
    },
  ],
};

it('formats a report as Markdown tables', () => {
  expect(comparisonMarkdown(report)).toBe(
    [
      'sender: 5 interleaved rounds of 1000 ms, medians. Node v26.10.0 on linux x64, 2 cores (AMD EPYC).',
      '',
      '| POST           | per second |   rate | CPU per delivery |    CPU |',
      '| -------------- | ---------: | -----: | ---------------: | -----: |',
      '| undici (1 ×)   |     50,000 | 1.00 × |          20.0 µs | 1.00 × |',
      '| webhook-sender |      4,000 | 0.08 × |          22.3 µs | 1.11 × |',
    ].join('\n'),
  );
});

it('warns that the figures of a quick run are not meaningful', () => {
  expect(comparisonMarkdown({ ...report, quick: true })).toMatch(
    /^sender: .* A quick run: the figures are not meaningful\.\n/,
  );
});
