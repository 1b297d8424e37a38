import type { IncomingHttpHeaders } from 'node:http';
import { isDeepStrictEqual } from 'node:util';

/** Something is not as specified. */
export class DeviationError extends Error {
  override readonly name = 'DeviationError';
}

/** @throws {DeviationError} when what came back differs */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (isDeepStrictEqual(actual, expected)) return;
  throw new DeviationError(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}

/** @throws {DeviationError} when it does not hold */
export function expectThat(what: string, holds: boolean): asserts holds {
  if (!holds) throw new DeviationError(`not as specified: ${what}`);
}

let stepNumber = 0;
const progressMs = 500;

/** Runs a step of the demo under its title. An error says which step it was. */
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

/** Shows that time passes while something is waited for, and gives up in the end. */
export async function waitFor<Result>(what: string, timeoutMs: number, work: Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`    waiting for ${what} `);
  const progress = setInterval(() => process.stdout.write('.'), progressMs);
  let timeout: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    timeout = setTimeout(() => reject(new DeviationError(`${what} did not come within ${timeoutMs} ms`)), timeoutMs);
  });
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearInterval(progress);
    clearTimeout(timeout);
    write(` ${seconds()} s`);
  }
}

/** What was sent (`→`) or what came (`←`), with its headers and its body. */
export function show(
  arrow: '→' | '←',
  line: string,
  headers: IncomingHttpHeaders | Record<string, string>,
  body: string,
): void {
  write(`    ${arrow} ${line}`);
  for (const [name, value] of Object.entries(headers)) write(`      ${name}: ${shorten(name, String(value))}`);
  if (body !== '') write(`      ${body}`);
}

export function note(line: string): void {
  write(`    ${line}`);
}

export function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Nobody should learn from a screen recording what a key looks like in full. */
function shorten(name: string, value: string): string {
  return name.toLowerCase() === 'x-service-api-key' ? `${value.slice(0, 16)}…` : value;
}
