import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { benches, comparisonBenches } from '../src/index.ts';

const script = join(import.meta.dirname, '../../../scripts/bench.ts');

interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

async function bench(...args: string[]): Promise<Outcome> {
  const run = promisify(execFile)(process.execPath, ['--conditions=deedwire-source', script, ...args]);
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Outcome) => error,
  );
}

const positive = expect.toSatisfy((value: unknown) => Number.isFinite(value) && Number(value) > 0);

describe.each(comparisonBenches)('$name', ({ name, comparisons }) => {
  it('prints the documented report with --quick --json', async () => {
    const { stdout } = await bench(name, '--quick', '--json');
    expect(JSON.parse(stdout)).toStrictEqual({
      bench: name,
      quick: true,
      machine: { node: process.version, platform: expect.any(String), cpu: expect.any(String), cores: positive },
      rounds: 3,
      roundMs: 50,
      comparisons: comparisons.map(({ title, operation, baseline, contestants }) => ({
        title,
        operation,
        baseline,
        results: Object.keys(contestants).map((contestant) => ({
          name: contestant,
          perSecond: positive,
          cpuMicroseconds: positive,
          rateRatio: positive,
          cpuRatio: positive,
        })),
      })),
    });
  });

  it('has a baseline among its contestants', () => {
    for (const { baseline, contestants } of comparisons) expect(Object.keys(contestants)).toContain(baseline);
  });
});

it('prints its help', async () => {
  const { code, stdout } = await bench('--help');
  expect(code).toBe(0);
  for (const { name, summary, parts } of benches) {
    expect(stdout).toContain(`  ${name.padEnd(8)} ${summary}\n`);
    for (const part of Object.values(parts ?? {})) expect(stdout).toContain(`${part}\n`);
  }
});

it.each([
  [['toaster'], 'There is no bench "toaster". Known benches: delivery, graphql, sender, signing.\n'],
  [[], 'Name one bench.\n'],
  [['sender', 'signing'], 'Name one bench.\n'],
  [['sender', '--slow'], "Unknown option '--slow'"],
  [['sender', '--only', 'rates'], 'The bench "sender" has no option --only.\n'],
  [['graphql', '--per-round', '5'], 'The bench "graphql" has no option --per-round.\n'],
  [['delivery', '--only', 'toast'], 'There is no part "toast". Known parts: rates, '],
  [['delivery', '--per-round', '0'], '--per-round must be a whole number from 1 to 9,999,999, not "0".\n'],
])('exits with 2 for %j', async (args, message) => {
  const { code, stdout, stderr } = await bench(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr.startsWith(message)).toBe(true);
});
