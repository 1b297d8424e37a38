import { parseArgs } from 'node:util';
import type { Bench, BenchOptions } from './bench.ts';

/** What a command line asks for. */
export type Command =
  | { kind: 'help' }
  | { kind: 'invalid'; problem: string }
  | { kind: 'page' }
  | { kind: 'run'; bench: Bench; json: boolean; save: boolean; options: Omit<BenchOptions, 'progress'> };

type Description = Pick<Bench, 'name' | 'summary' | 'parts' | 'perRound' | 'stored' | 'options' | 'savesParts'>;

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
  --save    store the report in bench/results, and write the page; of delivery, one part may be stored
  --help    show this help
${benches.map(ownOptions).join('')}
Progress appears on stderr.

Exit codes: 0 success, 1 the bench failed, 2 invalid usage.
`;
}

/** The help for the options that only some benches have. */
function ownOptions({ name, parts, perRound, stored, options }: Description): string {
  if (parts === null && options === null) return '';
  const lines = [
    ...Object.entries(options ?? {}).map(
      ([option, { value, summary }]) => `  ${`--${option} <${value}>`.padEnd(21)} ${summary}`,
    ),
    ...(perRound === null ? [] : [`  --per-round <number>  ${perRound}`]),
    ...(stored === undefined ? [] : [`  --stored <number>     ${stored}`]),
    ...(parts === null ? [] : ['  --only <part>         run one part; the default is all of them:']),
    ...Object.entries(parts ?? {}).map(([part, summary]) => `    ${part.padEnd(13)} ${summary}`),
  ];
  return `\nOptions of ${name}:\n${lines.join('\n')}\n`;
}

export function parseCommand(args: readonly string[], benches: readonly Bench[]): Command {
  let parsed;
  try {
    const flag = { type: 'boolean' } as const;
    const value = { type: 'string' } as const;
    const shared = { quick: flag, json: flag, save: flag, help: flag, only: value, 'per-round': value, stored: value };
    const own = Object.fromEntries(ownNames(benches).map((name) => [name, value]));
    parsed = parseArgs({ args: [...args], options: { ...own, ...shared }, allowPositionals: true });
  } catch (error) {
    return invalid(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const [name, ...others] = positionals;
  if (name === undefined || others.length > 0) return invalid('Name one bench.');
  if (name === 'page') return { kind: 'page' };
  const bench = benches.find((each) => each.name === name);
  if (bench === undefined) {
    return invalid(`There is no bench "${name}". Known benches: ${benches.map((each) => each.name).join(', ')}.`);
  }
  const { only, 'per-round': perRound, stored, quick = false, json = false, save = false } = values;
  const given: Readonly<Record<string, unknown>> = values;
  const own = ownNames(benches).filter((option) => given[option] !== undefined);
  const foreign = own.find((option) => bench.options?.[option] === undefined);
  if (foreign !== undefined) return invalid(`The bench "${name}" has no option --${foreign}.`);
  if (bench.parts === null && only !== undefined) return invalid(`The bench "${name}" has no option --only.`);
  if (bench.perRound === null && perRound !== undefined)
    return invalid(`The bench "${name}" has no option --per-round.`);
  if (bench.stored === undefined && stored !== undefined) return invalid(`The bench "${name}" has no option --stored.`);
  if (only !== undefined && !Object.keys(bench.parts ?? {}).includes(only)) {
    return invalid(`There is no part "${only}". Known parts: ${Object.keys(bench.parts ?? {}).join(', ')}.`);
  }
  for (const [option, number] of Object.entries({ 'per-round': perRound, stored })) {
    if (number !== undefined && !/^[1-9]\d{0,6}$/.test(number))
      return invalid(`--${option} must be a whole number from 1 to 9,999,999, not "${number}".`);
  }
  const isComplete = !quick && perRound === undefined && stored === undefined;
  if (save && !isComplete) return invalid('--save stores complete runs only.');
  if (save && only !== undefined && bench.savesParts !== true)
    return invalid(`--save stores all parts of the bench "${name}" at once.`);
  const options = {
    quick,
    only,
    perRound: toNumber(perRound),
    stored: toNumber(stored),
    values: Object.fromEntries(own.map((option) => [option, String(given[option])])),
  };
  return { kind: 'run', bench, json, save, options };
}

function toNumber(value: string | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

/** The names of the options that are not shared by all benches. */
function ownNames(benches: readonly Bench[]): string[] {
  return benches.flatMap(({ options }) => Object.keys(options ?? {}));
}

function invalid(problem: string): Command {
  return { kind: 'invalid', problem };
}
