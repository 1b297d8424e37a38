import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Surroundings } from './shell.ts';

/**
 * Reads a file, or standard input for `-`.
 *
 * @throws {Error} if it cannot be read, if it is larger than `maxBytes`, or if standard input is a terminal
 */
export function readInput(surroundings: Pick<Surroundings, 'stdin'>, path: string, maxBytes: number): Promise<Buffer> {
  return read(surroundings, path, maxBytes, { file: path, causeOf: (cause) => cause });
}

/**
 * Reads the file of an option, which contains a secret. No error quotes the path: it can be the secret, passed by mistake.
 *
 * @param option for example `--secret-file`
 * @throws {Error} as `readInput`
 */
export function readSecretInput(
  surroundings: Pick<Surroundings, 'stdin'>,
  option: string,
  path: string,
  maxBytes: number,
): Promise<Buffer> {
  return read(surroundings, path, maxBytes, { file: `The file of ${option}`, causeOf: codeOf });
}

/** The message of an error of the file system quotes the path. */
function codeOf(error: unknown): Error | undefined {
  return error instanceof Error && 'code' in error ? new Error(String(error.code)) : undefined;
}

function unreadable(name: string, cause: unknown): Error {
  return new Error(`${name} cannot be read.`, { cause });
}

async function read(
  { stdin }: Pick<Surroundings, 'stdin'>,
  path: string,
  maxBytes: number,
  { file, causeOf }: { file: string; causeOf: (cause: unknown) => unknown },
): Promise<Buffer> {
  const name = path === '-' ? 'Standard input' : file;
  if (path === '-' && stdin.isTTY === true) throw new Error('Standard input is a terminal. Name a file, or pipe one.');
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of path === '-' ? stdin : createReadStream(path)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) break;
    }
  } catch (error) {
    throw unreadable(name, causeOf(error));
  }
  if (bytes > maxBytes) throw new Error(`${name} is larger than ${maxBytes.toLocaleString('en')} bytes.`);
  return Buffer.concat(chunks);
}

/** More than the log line of a body of 256 kB, however it is escaped. */
const lineMax = 2_000_000;

/**
 * Reads the lines of a file, or of standard input for `-`. What is compressed with gzip is decompressed.
 *
 * @throws {Error} if it cannot be read, if a line is too long, or if standard input is a terminal
 */
export async function* readLines({ stdin }: Pick<Surroundings, 'stdin'>, path: string): AsyncGenerator<string> {
  const name = path === '-' ? 'Standard input' : path;
  if (path === '-' && stdin.isTTY === true) throw new Error('Standard input is a terminal. Name a file, or pipe one.');
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of readChunks(path === '-' ? stdin : createReadStream(path), name)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineMax)
      throw new Error(`${name} has a line of more than ${lineMax.toLocaleString('en')} characters.`);
    yield* lines;
  }
  yield rest;
}

async function* readChunks(source: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  try {
    yield* decompress(source);
  } catch (cause) {
    throw unreadable(name, cause);
  }
}

const gzipMagic = [0x1f, 0x8b];

async function* decompress(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let start = new Uint8Array();
  // A pipe may split the two bytes that tell what it is.
  while (start.length < gzipMagic.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    start = Buffer.concat([start, next.value]);
  }
  const all = (async function* () {
    yield start;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
  const isGzip = gzipMagic.every((byte, index) => start[index] === byte);
  // The iteration throws what fails.
  yield* isGzip ? pipeline(all, createGunzip(), () => {}) : all;
}
