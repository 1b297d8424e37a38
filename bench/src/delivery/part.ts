/** What all parts need from the command line. */
export interface PartContext {
  quick: boolean;
  perRound: number | undefined;
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
