import { parseArgs } from 'node:util';
import type { Bench, BenchOptions } from './bench.ts';

/** What a command line asks for. */
export type Command =
  | { kind: 'help' }
  | { kind: 'invalid'; problem: string }
  | { kind: 'page' }
  | {
      kind: 'run';
      bench: Bench;
      json: boolean;
      save: boolean;
      /** Leave out the parts that are stored at this commit. */
      resume: boolean;
      options: Omit<BenchOptions, 'progress'>;
    };

type Description = Omit<Bench, 'run'>;

export function helpText(benches: readonly Description[]): string {
  return `Usage: pnpm bench <name> [options]
       pnpm bench page

Measures one of our packages against its peers, each in its own process, in interleaved rounds. Prints the medians of the
rate and of the CPU time per operation, and their ratios to the baseline. Run it on an otherwise idle machine.

Benches:
${benches.map(({ name, summary }) => `  ${name.padEnd(8)} ${summary}`).join('\n')}

\`page\` writes the tables and charts of docs/performance.md from bench/results.

Options:
  --quick   run for a few seconds, to check that the bench works; the figures are not meaningful
  --json    print the report as JSON (the types are in bench/src)
  --save    store the report in bench/results, and write the page; of delivery and pressure, each part as soon as it ends
  --resume  with --save, of delivery and pressure: leave out the parts that are stored at this commit
  --help    show this help
${benches.map(ownOptions).join('')}
Progress appears on stderr.

Exit codes: 0 success, 1 the bench failed, 2 invalid usage.
`;
}

/** The help for the options that only some benches have. */
function ownOptions({ name, parts, options = {} }: Description): string {
  const lines = [
    ...Object.entries(options).map(
      ([option, { value, summary }]) => `  ${`--${option} <${value}>`.padEnd(21)} ${summary}`,
    ),
    ...(parts === undefined ? [] : ['  --only <part>         run one part; the default is all of them:']),
    ...Object.entries(parts ?? {}).map(([part, summary]) => `    ${part.padEnd(13)} ${summary}`),
  ];
  return lines.length === 0 ? '' : `\nOptions of ${name}:\n${lines.join('\n')}\n`;
}

export function parseCommand(args: readonly string[], benches: readonly Bench[]): Command {
  let parsed;
  try {
    const flag = { type: 'boolean' } as const;
    const value = { type: 'string' } as const;
    const own = Object.fromEntries(
      benches.flatMap(({ options = {} }) => Object.keys(options).map((name) => [name, value])),
    );
    const shared = { quick: flag, json: flag, save: flag, resume: flag, help: flag, only: value };
    parsed = parseArgs({ args: [...args], options: { ...own, ...shared }, allowPositionals: true });
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error));
  }
  const { help = false, quick = false, json = false, save = false, resume = false, only, ...own } = parsed.values;
  if (help) return { kind: 'help' };
  const [name, ...others] = parsed.positionals;
  if (name === undefined || others.length > 0) return invalid('Name one bench.');
  if (name === 'page') return { kind: 'page' };
  const bench = benches.find((each) => each.name === name);
  if (bench === undefined) {
    return invalid(`There is no bench "${name}". Known benches: ${benches.map((each) => each.name).join(', ')}.`);
  }
  const { parts, options = {}, savesParts = false } = bench;
  const values = Object.fromEntries(Object.entries(own).map(([option, value]) => [option, String(value)]));
  const foreign = Object.keys(values).find((option) => options[option] === undefined);
  if (foreign !== undefined) return invalid(`The bench "${name}" has no option --${foreign}.`);
  if (parts === undefined && only !== undefined) return invalid(`The bench "${name}" has no option --only.`);
  if (only !== undefined && !Object.keys(parts ?? {}).includes(only))
    return invalid(`There is no part "${only}". Known parts: ${Object.keys(parts ?? {}).join(', ')}.`);
  const counts = Object.entries(values).filter(([option]) => options[option]?.isCount === true);
  const wrong = counts.find(([, value]) => !/^[1-9]\d{0,6}$/.test(value));
  if (wrong !== undefined)
    return invalid(`--${wrong[0]} must be a whole number from 1 to 9,999,999, not "${wrong[1]}".`);
  if (save && (quick || counts.length > 0)) return invalid('--save stores complete runs only.');
  if (save && only !== undefined && !savesParts)
    return invalid(`--save stores all parts of the bench "${name}" at once.`);
  if (resume && !(save && savesParts && only === undefined))
    return invalid('--resume goes on with --save of all parts of delivery or pressure.');
  const { 'per-round': perRound, stored } = Object.fromEntries(
    counts.map(([option, value]) => [option, Number(value)]),
  );
  return { kind: 'run', bench, json, save, resume, options: { quick, only, perRound, stored, values } };
}

function invalid(problem: string): Command {
  return { kind: 'invalid', problem };
}
