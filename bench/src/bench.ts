import { currentCommit } from './commit.ts';
import { describeMachine, introduction } from './report.ts';

/** What the command line passes to a bench. */
export interface BenchOptions {
  /** A short run that only shows that the bench works. */
  quick: boolean;
  /** The only part to run: a key of `parts`. Undefined: all parts. */
  only?: string | undefined;
  /** `--per-round`: overrides the number of deliveries in a round, where a bench has one. */
  perRound?: number | undefined;
  /** `--stored`: overrides the number of stored deliveries of the larger size, where a bench has one. */
  stored?: number | undefined;
  /** The parts that need not run again. Without those of `only`. */
  done?: readonly string[];
  /** Called with the report of each part as soon as it has ended. */
  onPart?: (report: object) => void;
  /** The values of the bench's own options, by name, without those that the command line lacks. */
  values: Readonly<Record<string, string>>;
  /** Reports what the bench is doing. */
  progress: (line: string) => void;
}

export interface BenchResult {
  /** Printed by `--json`. */
  json: object;
  markdown: string;
}

/** An option of one bench. It has a value. */
export interface BenchOption {
  /** For the help, for example `URL`. */
  value: string;
  /** One line for the help. */
  summary: string;
  /** Whether its value is a whole number of deliveries. With it, a run is not complete. */
  isCount?: boolean;
}

/** What the user has to correct. The program prints the message without a stack. */
export class BenchProblem extends Error {}

export interface Bench {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** The names for `--only`, each with one line for the help. */
  readonly parts?: Readonly<Record<string, string>>;
  /** Its own options, by name. */
  readonly options?: Readonly<Record<string, BenchOption>>;
  /** Whether `--save` may store one part: the JSON has a property for each. */
  readonly savesParts?: boolean;
  run(options: BenchOptions): Promise<BenchResult>;
}

/** What a part of a bench measures. */
export type ResultOf<Measure extends (options: BenchOptions) => unknown> = Awaited<ReturnType<Measure>>;

/** A part of a bench that can run alone. It starts its own servers. */
export interface Part {
  /** One line for the help. */
  summary: string;
  run(options: BenchOptions): Promise<BenchResult>;
}

export function part<Result extends object>(
  summary: string,
  measure: (options: BenchOptions) => Promise<Result>,
  markdown: (result: Result) => string,
): Part {
  return {
    summary,
    async run(options) {
      const json = await measure(options);
      return { json, markdown: markdown(json) };
    },
  };
}

interface BenchOfParts extends Omit<Bench, 'parts' | 'run'> {
  /** In the order in which they run. */
  parts: Readonly<Record<string, Part>>;
  /** The part whose result is not a property of the JSON, but the JSON itself. */
  main?: string;
}

/** A bench whose JSON has a property for each part, and the commit that each was measured at. */
export function benchOfParts({ parts, main, ...bench }: BenchOfParts): Bench {
  return {
    ...bench,
    parts: Object.fromEntries(Object.entries(parts).map(([name, { summary }]) => [name, summary])),
    async run(options) {
      const head = { bench: bench.name, quick: options.quick, machine: describeMachine() };
      const json: Record<string, unknown> = {};
      const commits: Record<string, string> = {};
      const sections = [introduction(`${bench.name}: PostgreSQL with fsync, one machine.`, head)];
      const commit = currentCommit();
      for (const [name, each] of Object.entries(parts)) {
        if (options.only === undefined ? options.done?.includes(name) : options.only !== name) continue;
        const progress = (line: string): void => options.progress(`${name}: ${line}`);
        const result = await each.run({ ...options, progress });
        const own = name === main ? result.json : { [name]: result.json };
        Object.assign(json, own);
        commits[name] = commit;
        options.onPart?.({ ...own, ...head, commits: { [name]: commit } });
        sections.push(result.markdown);
      }
      return { json: { ...json, ...head, commits }, markdown: sections.join('\n\n') };
    },
  };
}
