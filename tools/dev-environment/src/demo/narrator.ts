import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { outputWidth, print } from '../terminal.ts';
import { fit } from './layout.ts';

/** The system behaves differently than specified. */
class DeviationError extends Error {
  override readonly name = 'DeviationError';
}

/** @throws {DeviationError} if the values differ */
export function expectEqual(subject: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new DeviationError(`${subject}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** @throws {DeviationError} if the statement is false */
export function expectThat(statement: string, holds: boolean): asserts holds {
  if (!holds) throw new DeviationError(`expected that ${statement}`);
}

let stepNumber = 0;
const progressMs = 1_000;

/** Prints the title of a step and runs it. The message of an error contains the number and title of the step. */
export async function step<Result>(title: string, work: () => Promise<Result>): Promise<Result> {
  stepNumber += 1;
  const heading = `${String(stepNumber).padStart(2)}  ${title}`;
  write(`\n${heading}`);
  try {
    return await work();
  } catch (cause) {
    throw new Error(`Step ${heading.trim()}\n    ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/**
 * Prints a dot every second until the work is done.
 *
 * @throws {DeviationError} if the work takes longer than `timeoutMs`
 */
export async function waitFor<Result>(subject: string, timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1);
  print(`    waiting for ${subject} `);
  const progress = setInterval(() => print('.'), progressMs);
  let timeout: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timeout = setTimeout(
      () => reject(new DeviationError(`${subject}: not received within ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearInterval(progress);
    clearTimeout(timeout);
    write(` ${seconds()} s`);
  }
}

const messageIndent = ' '.repeat(6);

/** The columns that `show` has for each line of a body. */
export function bodyWidth(): number {
  return outputWidth() - messageIndent.length;
}

/** Prints a message that was sent (`→`) or received (`←`), with its headers and the lines of its body. */
export function show(
  arrow: '→' | '←',
  line: string,
  headers: IncomingHttpHeaders | Record<string, string>,
  body: readonly string[],
): void {
  note(`${arrow} ${line}`);
  for (const [name, value] of Object.entries(headers)) {
    write(`${messageIndent}${name}: ${shorten(name, String(value))}`);
  }
  for (const bodyLine of body) write(`${messageIndent}${bodyLine}`);
}

export function note(line: string): void {
  write(`    ${line}`);
}

/** Prints each line of the text. One that is longer than the terminal is wide continues in the next one, except an id or a signature, which is cut. */
export function write(text: string): void {
  for (const line of text.split('\n')) print(`${fit(line, outputWidth()).join('\n')}\n`);
}

/** Shortens API keys, so that screen recordings and logs of the demo contain none. */
function shorten(name: string, value: string): string {
  return name.toLowerCase() === 'x-service-api-key' ? `${value.slice(0, 16)}…` : value;
}
