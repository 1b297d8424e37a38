import { InputError } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import { childPointer, type JsonValue } from './json-value.ts';

/** A JSON text, read, and where its values stand. */
export interface JsonDocument {
  readonly file: string;
  readonly value: JsonValue;
  /** The line, from 1, on which the value at a JSON Pointer starts. Null when there is no such value. */
  lineOf(pointer: string): number | null;
}

/** A contract is written by people; what is deeper than this is a mistake or an attack. */
const maxDepth = 500;

const whitespace = /[ \t\n\r]*/y;
// eslint-disable-next-line no-control-regex -- RFC 8259 forbids just these inside a string
const stringToken = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const otherToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/**
 * Reads JSON (RFC 8259) as `JSON.parse` does, and besides refuses duplicate names, which `JSON.parse` lets pass silently,
 * and tells the line of every value. Throws an InputError.
 */
export function parseJson(source: SourceText): JsonDocument {
  return {
    file: source.file,
    value: read(source, null),
    lineOf(pointer) {
      // Places are asked for when something is wrong. Reading again costs less than remembering them all.
      let line: number | null = null;
      read(source, (place, offset) => {
        if (place === pointer) line = lineAt(source.text, offset);
      });
      return line;
    },
  };
}

/** Tells the JSON Pointer and the offset of each value, when asked to. */
type Visit = (pointer: string, offset: number) => void;

function read({ file, text }: SourceText, visit: Visit | null): JsonValue {
  let at = 0;

  function fail(problem: string, offset = at): never {
    throw new InputError(file, lineAt(text, offset), problem);
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
      fail(text[at] === '"' ? 'a string is not closed or not valid' : `a string is expected, not ${describeNext()}`);
    const value: string = JSON.parse(found);
    return value;
  }

  function pointerTo(pointer: string, key: string | number): string {
    return visit === null ? '' : childPointer(pointer, key);
  }

  /** Calls `readOne` for each member up to `end`; the opening bracket is still ahead. */
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
      if (next !== ',' && next !== end) fail(`"," or "${end}" is expected, not ${describeNext()}`);
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
      if (members.has(name)) fail(`the name ${JSON.stringify(name)} stands twice in one object`, start);
      skipWhitespace();
      if (text[at] !== ':') fail(`":" is expected, not ${describeNext()}`);
      at += 1;
      members.set(name, readValue(pointerTo(pointer, name), depth + 1));
    });
    // Not by assignment: a member named `__proto__` is a member.
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
    const found = token(otherToken);
    if (found === null) fail(`a value is expected, not ${describeNext()}`);
    const value: JsonValue = JSON.parse(found);
    return value;
  }

  skipWhitespace();
  if (at === text.length) fail('is empty', 0);
  const value = readValue('', 0);
  skipWhitespace();
  if (at < text.length) fail(`the end of the file is expected, not ${describeNext()}`);
  return value;
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let next = text.indexOf('\n'); next !== -1 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
  return line;
}
