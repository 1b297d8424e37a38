export type Environment = Readonly<Record<string, string | undefined>>;

interface Output {
  write(text: string): unknown;
}

/** The environment and the streams of a command. Tests pass their own, to run commands in their process. */
export interface Shell {
  readonly env: Environment;
  readonly stdout: Output;
  readonly stderr: Output;
}
