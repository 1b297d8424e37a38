import { InputError } from '../input-error.ts';
import { childPointer, isJsonObject, ownMember, type JsonObject } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import { locationAt, type Locator } from '../location.ts';
import type { SourceText } from '../text-file.ts';

/** A declaration of an entry point. */
export interface ApiDeclaration {
  readonly kind: string;
  /** Without members. */
  readonly signature: string;
  readonly members: ReadonlyMap<string, ApiMember>;
  readonly union: ReadonlySet<string>;
  /** Whether callers pass values of this type. */
  readonly isInput: boolean;
  /** Of a class: whether it has private or protected members. Null if the report does not say so, or for other kinds. */
  readonly isNominal: boolean | null;
  /** Whether callers can only use it as a type. Null if the report does not say so. */
  readonly isTypeOnly: boolean | null;
  /** What imported names in it stand for. Null if the report does not say so. */
  readonly references: ReadonlyMap<string, string> | null;
}

interface ApiMember {
  readonly signature: string;
  readonly optional: boolean;
}

/** With what reports of version 4.0.0 and earlier begin the members `constructor` and `toString`. */
const nativeCode = /^function \w+\(\) \{ \[native code\] \}; /;

/** The declarations by name, and their lines by coordinate. */
export interface ApiReport {
  readonly declarations: ReadonlyMap<string, ApiDeclaration>;
  readonly locator: Locator;
}

/**
 * Reads an API report.
 *
 * @throws {InputError} when the file is not an API report.
 */
export function readApiReport(source: SourceText): ApiReport {
  const document = parseJson(source);

  function fail(pointer: string, expected: string): never {
    // A missing member has no line, but the object around it has.
    const line = document.lineOf(pointer) ?? document.lineOf(pointer.slice(0, pointer.lastIndexOf('/')));
    throw new InputError(source.file, line, `${pointer || 'the report'} must be ${expected}`);
  }

  function object(value: unknown, pointer: string): JsonObject {
    return isJsonObject(value) ? value : fail(pointer, 'an object');
  }

  function text(value: unknown, pointer: string): string {
    return typeof value === 'string' ? value : fail(pointer, 'a string');
  }

  function readDeclaration(declaration: JsonObject, pointer: string): ApiDeclaration {
    const kind = text(ownMember(declaration, 'kind'), childPointer(pointer, 'kind'));
    const signature = text(ownMember(declaration, 'signature'), childPointer(pointer, 'signature'));
    const members = object(ownMember(declaration, 'members') ?? {}, childPointer(pointer, 'members'));
    const union = ownMember(declaration, 'union') ?? [];
    const references = object(ownMember(declaration, 'references') ?? {}, childPointer(pointer, 'references'));
    return {
      kind,
      signature,
      members: new Map(
        Object.entries(members).map(([path, member]) => [
          path.replace(/\?$/, ''),
          {
            signature: text(member, childPointer(`${pointer}/members`, path)).replace(nativeCode, ''),
            optional: path.endsWith('?'),
          },
        ]),
      ),
      union: new Set(
        Array.isArray(union)
          ? union.flatMap((type) => (type === 'boolean' ? ['false', 'true'] : String(type)))
          : fail(childPointer(pointer, 'union'), 'a list'),
      ),
      isInput: ownMember(declaration, 'input') === true,
      isNominal: booleanIn(ownMember(declaration, 'nominal')),
      isTypeOnly: isComplete ? ownMember(declaration, 'typeOnly') === true : null,
      references: isComplete
        ? new Map(
            Object.entries(references).map(([name, target]) => [
              name,
              text(target, childPointer(`${pointer}/references`, name)),
            ]),
          )
        : null,
    };
  }

  const report = object(document.value, '');
  // Reports of version 4.1 and earlier have no format.
  const isComplete = Object.hasOwn(report, 'format');
  const declarations = object(ownMember(report, 'declarations'), '/declarations');
  return {
    declarations: new Map(
      Object.entries(declarations).map(([name, value]) => {
        const pointer = childPointer('/declarations', name);
        return [name, readDeclaration(object(value, pointer), pointer)];
      }),
    ),
    locator: locatorOf(document),
  };
}

function booleanIn(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

function locatorOf(document: JsonDocument): Locator {
  return {
    file: document.file,
    locationOf(coordinate) {
      const [name = '', ...path] = coordinate.split('.');
      const declaration = childPointer('/declarations', name);
      const member = childPointer(`${declaration}/members`, path.join('.'));
      const pointers = path.length === 0 ? [declaration] : [member, `${member}?`];
      const lines = pointers.map((pointer) => document.lineOf(pointer));
      return locationAt(document.file, lines.find((line) => line !== null) ?? null);
    },
    parentOf: (coordinate) => (coordinate.includes('.') ? coordinate.slice(0, coordinate.lastIndexOf('.')) : null),
  };
}
