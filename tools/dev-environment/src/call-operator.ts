import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { runOperator } from '@deedwire/operator';
import { buildOf } from '@deedwire/service-runtime';
import { workspaceRoot } from './workspace.ts';

export interface OperatorResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a command finds in its surroundings. */
export interface OperatorSurroundings {
  env: Environment;
  /** Standard input. Omitted if it is empty. */
  input?: Uint8Array;
  /** The width of the terminal to which standard output is written. Omitted for a pipe. */
  columns?: number;
  /** Called for each text that is written, before it is. */
  onWrite?: (text: string) => void;
}

type OperatedService = Awaited<ReturnType<Parameters<typeof runOperator>[0]>>;

/** The command line registers itself as `apps/operator-cli`, whichever service it operates. */
export const buildOfOperator = () => buildOf(pathToFileURL(join(workspaceRoot, 'apps/operator-cli/src/main.ts')).href);

/** Runs the command line of a service in this process. */
export async function callOperatorOf(
  operated: OperatedService,
  { env, input, columns, onWrite }: OperatorSurroundings,
  ...commandArguments: string[]
): Promise<OperatorResult> {
  const output = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof output) => ({
    write(text: string, done?: () => void) {
      onWrite?.(text);
      output[stream] += text;
      done?.();
    },
  });
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const shell = {
    // A busy machine would add lines to its errors.
    env: { SLOW_STATEMENT_MS: '0', ...env },
    stdin: Readable.from(input === undefined ? [] : [input]),
    stdout: { ...collect('stdout'), ...terminal },
    stderr: collect('stderr'),
    build: buildOfOperator(),
  };
  const exitCode = await runOperator(async () => operated, shell, commandArguments);
  return { exitCode, ...output };
}
