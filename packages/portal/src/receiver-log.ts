import { canonicalJson, readLogLine } from '@deedwire/core/receiver-log-line';
import { bytesOfText, sha256Of } from './bytes.ts';

/** What a log says about a delivery or an event. */
export interface Logged {
  /** The first line that names it. Starts at 1. */
  readonly line: number;
  /** The first line of each different body, by its digest. */
  readonly bodies: Map<string, number>;
  isFound: boolean;
}

export interface ReceiverLog {
  /** By the id of the delivery or event. */
  readonly ids: Map<string, Logged>;
  /** How many lines are not empty. */
  lines: number;
  /** How many lines name what another line names too. */
  repeatedLines: number;
  /** How many lines name neither a delivery nor an event. */
  unreadableLines: number;
  /** What is wrong with the first of them. */
  firstProblem: string | null;
  bodies: number;
}

/** The log cannot be read at all. */
export class LogError extends Error {
  override readonly name = 'LogError';
}

/** All of a log has to fit into the memory of a page. */
const logMaxBytes = 100_000_000;
const lineMax = 2_000_000;
const id = /^gid:\/\/[a-z][a-z0-9-]*\/Webhook(?:Delivery|Event)\/[1-9]\d{0,18}$/;

/**
 * The text of a file: UTF-8 or UTF-16, plain or compressed with gzip.
 *
 * @throws {LogError} if it is too large, damaged, or in another encoding
 */
export async function* textOf(file: Blob, maxBytes = logMaxBytes): AsyncGenerator<string> {
  const start = new Uint8Array(
    await file
      .slice(0, 2)
      .arrayBuffer()
      .catch(() => new ArrayBuffer()),
  ).join();
  const isGzip = start === '31,139';
  const encoding = { '255,254': 'utf-16le', '254,255': 'utf-16be' }[start] ?? 'utf-8';
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (value: Uint8Array | undefined) => {
    try {
      return decoder.decode(value, { stream: value !== undefined });
    } catch {
      throw new LogError(`The file is not text in ${encoding.toUpperCase()}.`);
    }
  };
  if (file.size > maxBytes) throw tooLarge(maxBytes);
  try {
    for await (const value of isGzip ? decompressed(file, maxBytes) : chunksOf(file.stream())) yield decode(value);
    yield decode(undefined);
  } catch (error) {
    // A browser reads no file that was written since it was chosen.
    throw error instanceof LogError ? error : new LogError('The file has changed, or cannot be read. Choose it again.');
  }
}

const tooLarge = (maxBytes: number) =>
  new LogError(`The log has more than ${maxBytes / 1_000_000} MB. Split it by time, and compare each part.`);

async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** A file has several members if rotated logs were joined, and a browser reads only one. They do not say where they end. */
async function* decompressed(file: Blob, maxBytes: number): AsyncGenerator<Uint8Array> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let total = 0;
  for (let start = 0, end = nextMember(bytes, 1); start < bytes.length; end = nextMember(bytes, end + 1)) {
    const member = new Blob([bytes.subarray(start, end)]).stream().pipeThrough(new DecompressionStream('gzip'));
    const chunks: Uint8Array[] = [];
    let size = total;
    try {
      for await (const chunk of chunksOf(member)) {
        size += chunk.length;
        if (size > maxBytes) throw tooLarge(maxBytes);
        chunks.push(chunk);
      }
    } catch (error) {
      if (error instanceof LogError) throw error;
      if (end === bytes.length) throw new LogError('The compressed file is damaged.');
      // What looks like the beginning of a member is in the middle of this one.
      continue;
    }
    yield* chunks;
    total = size;
    start = end;
  }
}

/** Where the next member can begin: a magic number, the method deflate, and known flags. */
function nextMember(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(31, from); at !== -1; at = bytes.indexOf(31, at + 1))
    if (bytes[at + 1] === 139 && bytes[at + 2] === 8 && (bytes[at + 3] ?? 255) < 32) return at;
  return bytes.length;
}

/**
 * Reads a log. Each line names a delivery or an event, as `readLogLine` says.
 *
 * @throws {LogError} if nothing in it can be read
 */
export async function readLog(chunks: AsyncIterable<string> | Iterable<string>): Promise<ReceiverLog> {
  const log: ReceiverLog = {
    ids: new Map(),
    lines: 0,
    repeatedLines: 0,
    unreadableLines: 0,
    firstProblem: null,
    bodies: 0,
  };
  let number = 0;
  let rest = '';
  const take = async (text: string) => {
    number += 1;
    const trimmed = text.trim();
    if (trimmed === '') return;
    log.lines += 1;
    const problem = await add(log, trimmed, number);
    if (problem === null) return;
    log.unreadableLines += 1;
    log.firstProblem ??= `Line ${number}: ${problem}.`;
  };
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineMax)
      throw new LogError(`Line ${number + lines.length + 1} is longer than 2 MB. Write each id or body in a line.`);
    for (const line of lines) await take(line);
  }
  await take(rest);
  if (log.lines === 0) throw new LogError('The log is empty.');
  if (log.ids.size === 0) throw new LogError(`The log names no delivery and no event. ${log.firstProblem}`);
  return log;
}

/** Returns what is wrong with the line. */
async function add(log: ReceiverLog, text: string, line: number): Promise<string | null> {
  const read = readLogLine(text);
  if (typeof read === 'string') return read;
  if (!id.test(read.id)) return `\`${read.id.slice(0, 100)}\` is not the id of a delivery or an event`;
  const known = log.ids.get(read.id);
  if (known) log.repeatedLines += 1;
  const logged = known ?? { line, bodies: new Map(), isFound: false };
  log.ids.set(read.id, logged);
  if (read.body === undefined) return null;
  const digest = await digestOf(read.body);
  if (digest === null) return 'its body is nested too deeply';
  log.bodies += 1;
  if (!logged.bodies.has(digest)) logged.bodies.set(digest, line);
  return null;
}

/** The same for JSON values that differ in the order of members only. Null if the value is nested too deeply. */
export async function digestOf(value: unknown): Promise<string | null> {
  try {
    return await sha256Of(bytesOfText(canonicalJson(value)).bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
