import type { RepeatDeletion } from '@deedwire/actions';
import { type Service, terminalText } from '@deedwire/core';
import type { Registration } from '@deedwire/service-runtime';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `done` is called when the text has left the process, or with the error. */
type Write = (text: string, done?: (error?: Error | null) => void) => unknown;

interface Stream {
  readonly write: Write;
  /** Whether a person reads it. */
  readonly isTTY?: boolean;
  /** The width of the terminal in characters. */
  readonly columns?: number;
}

interface Input extends AsyncIterable<Uint8Array> {
  /** Whether a person would have to type it. */
  readonly isTTY?: boolean;
}

/** The environment and the streams of a process. Tests pass their own, to run commands in their process. */
export interface Surroundings {
  readonly env: Environment;
  readonly stdin: Input;
  readonly stdout: Stream;
  readonly stderr: Stream;
  /** The version of the command line, and what its build can do. */
  readonly build: Pick<Registration, 'contracts' | 'version'>;
}

export interface Output extends Stream {
  /** For control characters of our own, and for bytes that a program verifies. `write` shows control characters as escapes. */
  readonly writeUnescaped: Write;
}

/** What a command uses. Whatever it writes, including foreign text, is safe for a terminal. */
export interface Shell extends Surroundings {
  readonly service: Service;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Writes to standard error what does not keep the command from succeeding: a line, or with `--json` an object with a `warning`. */
  readonly warn: (message: string) => void;
  /** How `database restored` deletes records of the application, by their types. Its commands add to it. */
  readonly deletions: Map<string, RepeatDeletion>;
}

export function createShell(service: Service, { env, stdin, build, ...streams }: Surroundings, isJson: boolean): Shell {
  const [stdout, stderr] = [createOutput(streams.stdout), createOutput(streams.stderr)];
  const warn = (message: string): void => {
    stderr.write(`${isJson ? JSON.stringify({ warning: { message } }) : message}\n`);
  };
  return { service, env, stdin, stdout, stderr, build, warn, deletions: new Map() };
}

export function createOutput(stream: Stream): Output {
  const { isTTY = false, columns } = stream;
  const writeUnescaped: Write = (text, done) => stream.write(text, done);
  const write: Write = (text, done) => writeUnescaped(terminalText(text, { keepsLines: true }), done);
  return { write, writeUnescaped, isTTY, ...(columns !== undefined && { columns }) };
}

/** Removes the line of a terminal in which the cursor is. */
export const clearLine = '\r\u001B[K';

/** Writes a part of a long output. Waits for its reader, so that the parts do not pile up in memory. */
export function writePart(write: Write, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    write(text, (error) => (error ? reject(error) : resolve()));
  });
}
