/** `pnpm bench <name>`: measures our packages against their peers. */
import { parseArgs } from 'node:util';
import { benches, benchNamed, markdown, runBench } from '../tools/bench/src/index.ts';

const help = `Usage: pnpm bench <name> [options]

Measures one of our packages against its peers, each in its own process, in interleaved rounds. Prints the medians of the
rate and of the CPU time per operation, and their ratios to the baseline. Run it on an otherwise idle machine.

Benches:
${benches.map(({ name, summary }) => `  ${name.padEnd(8)} ${summary}`).join('\n')}

Options:
  --quick   run for a few seconds, to check that the bench works; the figures are not meaningful
  --json    print the report as JSON (the Report type in tools/bench/src/report.ts)
  --help    show this help

Exit codes: 0 success, 1 the bench failed, 2 invalid usage.
`;

async function main(): Promise<number> {
  let parsed;
  try {
    const flag = { type: 'boolean' } as const;
    parsed = parseArgs({ options: { quick: flag, json: flag, help: flag }, allowPositionals: true });
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) return invalid('Name one bench.');
  const bench = benchNamed(name);
  if (bench === undefined) {
    return invalid(`There is no bench "${name}". Known benches: ${benches.map((each) => each.name).join(', ')}.`);
  }
  const report = await runBench(bench, { quick: values.quick === true });
  process.stdout.write(`${values.json === true ? JSON.stringify(report, null, 2) : markdown(report)}\n`);
  return 0;
}

function invalid(problem: string): number {
  process.stderr.write(`${problem}\n\n${help}`);
  return 2;
}

process.exitCode = await main();
