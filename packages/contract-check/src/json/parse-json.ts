import { invalidBefore, type Notice } from '../change.ts';
import { InputError } from '../input-error.ts';
import { locationAt, type Locator } from '../location.ts';
import type { SourceText } from '../text-file.ts';
import { JsonNumber } from './json-number.ts';
import { childPointer, parentPointer, type JsonValue } from './json-value.ts';

/** A parsed JSON text. */
export interface JsonDocument {
  readonly file: string;
  readonly value: JsonValue;
  /** The line, counted from 1, on which the value at a JSON Pointer starts. Null if the value does not exist. */
  lineOf(pointer: string): number | null;
}

/** Locates values by JSON Pointer. */
export function pointerLocator(document: JsonDocument): Locator {
  const { file } = document;
  return { file, locationOf: (pointer) => locationAt(file, document.lineOf(pointer)), parentOf: parentPointer };
}

/** Bounds the recursion of the parser. Contracts that people write are far less deep. */
const maxDepth = 500;

const whitespace = /[ \t\n\r]*/y;
// eslint-disable-next-line no-control-regex -- RFC 8259 forbids these characters inside a string
const stringToken = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const nameToken = /true|false|null/y;

/**
 * Parses JSON (RFC 8259) like `JSON.parse`, with three differences: it rejects duplicate names, keeps numbers as they are
 * written, and reports the line of a value. Skips a byte order mark.
 *
 * @param tolerated receives duplicate names, of which the last one counts. Null if they are errors.
 * @throws {InputError} when the text is not valid JSON.
 */
export function parseJson(source: SourceText, tolerated: Notice[] | null = null): JsonDocument {
  const value = read(source, null, tolerated);
  let lines: ReadonlyMap<string, number> | null = null;
  return {
    file: source.file,
    value,
    lineOf(pointer) {
      // Most documents need no line, so the text is read again for the first one.
      lines ??= linesOf(source);
      return lines.get(pointer) ?? null;
    },
  };
}

/** The line of each value, by JSON Pointer. The reader visits values in the order of their offsets. */
function linesOf(source: SourceText): Map<string, number> {
  const lines = new Map<string, number>();
  let [line, counted] = [1, 0];
  const visit: Visit = (pointer, offset) => {
    for (; counted < offset; counted += 1) if (source.text[counted] === '\n') line += 1;
    lines.set(pointer, line);
  };
  read(source, visit, []);
  return lines;
}

/** Receives the JSON Pointer and the offset of each value. */
type Visit = (pointer: string, offset: number) => void;

function read({ file, text }: SourceText, visit: Visit | null, tolerated: Notice[] | null): JsonValue {
  let at = text.startsWith('\uFEFF') ? 1 : 0;

  function fail(problem: string, offset = at): never {
    const hint = /\.ya?ml$/i.test(file) ? '. YAML is not read: convert the file to JSON' : '';
    throw new InputError(file, lineAt(text, offset), `${problem}${hint}`);
  }

  function skipWhitespace(): void {
    whitespace.lastIndex = at;
    whitespace.exec(text);
    at = whitespace.lastIndex;
  }

  function token(pattern: RegExp): string | null {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? null;
    if (found !== null) at += found.length;
    return found;
  }

  function describeNext(): string {
    const next = text.codePointAt(at);
    return next === undefined ? 'the end of the file' : JSON.stringify(String.fromCodePoint(next));
  }

  function readString(): string {
    const found = token(stringToken);
    if (found === null)
      fail(text[at] === '"' ? 'invalid or unterminated string' : `expected a string, found ${describeNext()}`);
    const value: string = JSON.parse(found);
    return value;
  }

  function pointerTo(pointer: string, key: string | number): string {
    return visit === null ? '' : childPointer(pointer, key);
  }

  /** Calls `readOne` for each member up to `end`. Starts at the opening bracket. */
  function readMembers(end: ']' | '}', readOne: () => void): void {
    at += 1;
    skipWhitespace();
    if (text[at] === end) {
      at += 1;
      return;
    }
    for (;;) {
      readOne();
      skipWhitespace();
      const next = text[at];
      if (next !== ',' && next !== end) fail(`expected "," or "${end}", found ${describeNext()}`);
      at += 1;
      if (next === end) return;
      skipWhitespace();
    }
  }

  function readArray(pointer: string, depth: number): JsonValue[] {
    const values: JsonValue[] = [];
    readMembers(']', () => values.push(readValue(pointerTo(pointer, values.length), depth + 1)));
    return values;
  }

  function readObject(pointer: string, depth: number): JsonValue {
    const members = new Map<string, JsonValue>();
    readMembers('}', () => {
      const start = at;
      const name = readString();
      if (members.has(name)) {
        const problem = `duplicate name ${JSON.stringify(name)} in one object`;
        (tolerated ?? fail(problem, start)).push(invalidBefore({ file, line: lineAt(text, start) }, problem));
      }
      skipWhitespace();
      if (text[at] !== ':') fail(`expected ":", found ${describeNext()}`);
      at += 1;
      members.set(name, readValue(pointerTo(pointer, name), depth + 1));
    });
    // Assignment would set the prototype for a member named `__proto__`.
    return Object.fromEntries(members);
  }

  function readValue(pointer: string, depth: number): JsonValue {
    if (depth > maxDepth) fail(`is nested deeper than ${maxDepth} levels`);
    skipWhitespace();
    visit?.(pointer, at);
    const first = text[at];
    if (first === '{') return readObject(pointer, depth);
    if (first === '[') return readArray(pointer, depth);
    if (first === '"') return readString();
    const number = token(numberToken);
    if (number !== null) return JsonNumber.parse(number);
    const name = token(nameToken);
    if (name === null) fail(`expected a value, found ${describeNext()}`);
    return name === 'null' ? null : name === 'true';
  }

  skipWhitespace();
  if (at === text.length) fail('the file is empty', 0);
  const value = readValue('', 0);
  skipWhitespace();
  if (at < text.length) fail(`expected the end of the file, found ${describeNext()}`);
  return value;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next !== -1 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
  return line;
}
