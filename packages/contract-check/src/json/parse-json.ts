import { parse, type ValueNode } from '@humanwhocodes/momoa';
import { invalidBefore, locationAt, type Locator, type Notice } from '../change.ts';
import { InputError, errorMessage } from '../input-error.ts';
import type { SourceText } from '../text-file.ts';
import { JsonNumber, childPointer, parentPointer, type JsonValue } from './json-value.ts';

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

/**
 * @param root names the document as a whole
 * @throws {InputError} which names the place of a value. A missing member has no line, but the object around it has.
 */
export function failIn(document: JsonDocument, pointer: string, problem: string, root = 'the file'): never {
  const line = document.lineOf(pointer) ?? document.lineOf(parentPointer(pointer) ?? '');
  throw new InputError(document.file, line, `${pointer || root} ${problem}`);
}

/** Bounds the recursion. Contracts that people write are far less deep. */
const maxDepth = 500;

/**
 * Parses JSON (RFC 8259) like `JSON.parse`, with three differences: it rejects duplicate names, keeps numbers as they are
 * written, and reports the line of a value. Skips a byte order mark.
 *
 * @param tolerated receives duplicate names, of which the last one counts. Null if they are errors.
 */
export function parseJson({ file, text: marked }: SourceText, tolerated: Notice[] | null = null): JsonDocument {
  const text = marked.replace(/^\uFEFF/, '');
  const lines = new Map<string, number>();

  function valueOf(node: ValueNode, pointer: string, depth: number): JsonValue {
    const { start, end } = node.loc;
    if (depth > maxDepth) throw new InputError(file, start.line, `is nested deeper than ${maxDepth} levels`);
    lines.set(pointer, start.line);
    switch (node.type) {
      case 'Array':
        return node.elements.map(({ value }, index) => valueOf(value, childPointer(pointer, index), depth + 1));
      case 'Object': {
        const members = new Map<string, JsonValue>();
        for (const { name: named, value } of node.members) {
          const name = named.type === 'String' ? named.value : named.name;
          if (members.has(name)) found(named.loc.start.line, `duplicate name ${JSON.stringify(name)} in one object`);
          members.set(name, valueOf(value, childPointer(pointer, name), depth + 1));
        }
        // Assignment would set the prototype for a member named `__proto__`.
        return Object.fromEntries(members);
      }
      case 'Number':
        return JsonNumber.parse(text.slice(start.offset, end.offset));
      case 'Boolean':
      case 'String':
        return node.value;
      case 'Null':
      // Only in JSON5.
      case 'NaN':
      case 'Infinity':
        return null;
    }
  }

  function found(line: number, problem: string): void {
    if (tolerated === null) throw new InputError(file, line, problem);
    tolerated.push(invalidBefore({ file, line }, problem));
  }

  return { file, value: valueOf(bodyOf(file, text), '', 0), lineOf: (pointer) => lines.get(pointer) ?? null };
}

/** @throws {InputError} with the line of the first error. */
function bodyOf(file: string, text: string): ValueNode {
  if (text.trim() === '') throw new InputError(file, 1, 'the file is empty');
  try {
    const { body } = parse(text);
    // The library accepts control characters in strings.
    JSON.parse(text);
    return body;
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new InputError(file, 1, `is nested deeper than ${maxDepth} levels`, { cause });
    const strict = errorOf(text);
    const [, offset] = / at position (\d+)/.exec(strict) ?? [];
    const [, line] = /\((\d+):\d+\)$/.exec(errorMessage(cause)) ?? [];
    const at = offset === undefined ? Number(line ?? 1) : text.slice(0, Number(offset)).split('\n').length;
    const problem = strict.replace(/(?: in JSON)? at position .*|, (?:\.\.\.)?".*/s, '');
    const hint = /\.ya?ml$/i.test(file) ? '. YAML is not read: convert the file to JSON' : '';
    throw new InputError(file, at, `is not JSON: ${problem}${hint}`, { cause });
  }
}

/** What `JSON.parse` reports, which says more than the error of the library, but not always where. */
function errorOf(text: string): string {
  try {
    JSON.parse(text);
    return 'invalid syntax';
  } catch (error) {
    return errorMessage(error);
  }
}
