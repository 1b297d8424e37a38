export type Environment = Readonly<Record<string, string | undefined>>;

interface Output {
  /** `done` is called when the text has left the process, or with the error. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Whether a person reads it. */
  readonly isTTY?: boolean;
  /** The width of the terminal in characters. */
  readonly columns?: number;
}

interface Input extends AsyncIterable<Uint8Array> {
  /** Whether a person would have to type it. */
  readonly isTTY?: boolean;
}

/** The environment and the streams of a command. Tests pass their own, to run commands in their process. */
export interface Shell {
  readonly env: Environment;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Writes a part of a long output. Waits for its reader, so that the parts do not pile up in memory. */
export function writePart(output: Output, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
