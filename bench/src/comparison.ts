/** Passed to every contestant of a bench, for example the port of a receiver. It crosses a process boundary as JSON. */
export type Settings = Readonly<Record<string, number | string>>;

/** One implementation under measurement. It runs in its own process, so that no contestant warms up the code of another. */
export interface Contestant {
  /** Works for about `durationMs` milliseconds. Returns the number of completed operations. */
  run(durationMs: number): number | Promise<number>;
  close?(): Promise<void>;
}

/** Contestants that do the same work, measured in interleaved rounds. */
export interface Comparison {
  readonly title: string;
  /** What a contestant does, in the singular: `delivery`. */
  readonly operation: string;
  /** The name of the contestant that the ratios refer to. */
  readonly baseline: string;
  readonly contestants: Readonly<Record<string, (settings: Settings) => Contestant | Promise<Contestant>>>;
}

/** A bench that consists of comparisons. */
export interface ComparisonBench {
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  readonly comparisons: readonly Comparison[];
  /** Starts what the contestants share, such as a receiver. */
  start?(): Promise<{ settings: Settings; close(): Promise<void> }>;
}
