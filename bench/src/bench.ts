/** What the command line passes to a bench. */
export interface BenchOptions {
  /** A short run that only shows that the bench works. */
  quick: boolean;
  /** The only part to run: a key of `parts`. Undefined: all parts. */
  only?: string | undefined;
  /** Overrides the number of deliveries in a round, where a bench has one. */
  perRound?: number | undefined;
  /** Overrides the number of stored deliveries of the larger size, where a bench has one. */
  stored?: number | undefined;
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
}

/** What the user has to correct. The program prints the message without a stack. */
export class BenchProblem extends Error {}

export interface Bench {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** The names for `--only`, each with one line for the help. Null if the bench has no parts. */
  readonly parts: Readonly<Record<string, string>> | null;
  /** One line for the help of `--per-round`. Null if the rounds have a fixed duration instead. */
  readonly perRound: string | null;
  /** One line for the help of `--stored`. Undefined if no part stores a history. */
  readonly stored?: string;
  /** Its own options, by name. Null if it has none. */
  readonly options: Readonly<Record<string, BenchOption>> | null;
  /** Whether `--save` may store one part: the JSON has a property for each. */
  readonly savesParts?: boolean;
  run(options: BenchOptions): Promise<BenchResult>;
}
