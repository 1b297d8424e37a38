import type { BenchOptions } from '../bench.ts';

/** What all parts need from the command line. */
export interface PartContext {
  quick: boolean;
  perRound: number | undefined;
  stored?: number | undefined;
  /** See `BenchOptions`. */
  values: BenchOptions['values'];
  progress: (line: string) => void;
}

/** A part of the bench that can run alone. It starts its own servers. */
export interface Part<Result extends object> {
  /** One line for the help. */
  readonly summary: string;
  /** Returns what `--json` prints for this part. */
  run(context: PartContext): Promise<Result>;
  markdown(result: Result): string;
}

/** A part whose result only its own `markdown` reads. */
export interface RunnablePart {
  summary: string;
  run(...parameters: Parameters<Part<object>['run']>): Promise<{ json: object; markdown: string }>;
}

export function runnable<Result extends object>(part: Part<Result>): RunnablePart {
  return {
    summary: part.summary,
    async run(context) {
      const result = await part.run(context);
      return { json: result, markdown: part.markdown(result) };
    },
  };
}

/** The names for `--only`, with the summaries. */
export function summaries(parts: Readonly<Record<string, RunnablePart>>): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([name, { summary }]) => [name, summary]));
}

/** Runs the parts, or the only one that is asked for, one after the other. */
export async function runParts(
  parts: Readonly<Record<string, RunnablePart>>,
  { only, progress, ...options }: BenchOptions,
): Promise<{ name: string; json: object; markdown: string }[]> {
  const results: { name: string; json: object; markdown: string }[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (only !== undefined && only !== name) continue;
    const context = { perRound: undefined, ...options, progress: (line: string) => progress(`${name}: ${line}`) };
    results.push({ name, ...(await part.run(context)) });
  }
  return results;
}
