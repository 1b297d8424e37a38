import { locationAt, type Locator } from '../change.ts';
import { childPointer } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import type { SourceText } from '../text-file.ts';
import type { Reported } from './generate/create-reports.ts';

/** With what reports of version 4.0.0 and earlier begin the members `constructor` and `toString`. */
const nativeCode = /^function \w+\(\) \{ \[native code\] \}; /;

/** A declaration in the file. */
type Written = Omit<Reported, 'kind'> & { readonly kind: string };

const validate = validatorOf<{ readonly format?: unknown; readonly declarations: Readonly<Record<string, Written>> }>(
  'config.schema.json',
  'apiReport',
);

/** Reads an API report: the declarations by name, and their lines by coordinate. */
export function readApiReport(source: SourceText) {
  const document = parseJson(source);
  const { format, declarations } = validate(document, document.value);
  // Reports of version 4.1 and earlier have no format.
  const isComplete = format !== undefined;
  const entries = Object.entries(declarations).map(([name, each]) => [name, declarationOf(each, isComplete)] as const);
  return { declarations: new Map(entries), locator: locatorOf(document) };
}

/** A declaration of an entry point. */
export type ApiDeclaration = ReturnType<typeof declarationOf>;

function declarationOf({ kind, signature, members = {}, union = [], ...rest }: Written, isComplete: boolean) {
  return {
    kind,
    /** Without members. */
    signature,
    members: new Map(
      Object.entries(members).map(([path, text]) => [
        path.replace(/\?$/, ''),
        { signature: text.replace(nativeCode, ''), optional: path.endsWith('?') },
      ]),
    ),
    union: new Set(union.flatMap((type) => (type === 'boolean' ? ['false', 'true'] : type))),
    /** Whether callers pass values of this type. */
    isInput: rest.input ?? false,
    /** Of a class: whether it has private or protected members. Null if the report does not say so, or for other kinds. */
    isNominal: rest.nominal ?? null,
    /** Whether callers can only use it as a type. Null if the report does not say so. */
    isTypeOnly: isComplete ? (rest.typeOnly ?? false) : null,
    /** What imported names in it stand for. Null if the report does not say so. */
    references: isComplete ? new Map(Object.entries(rest.references ?? {})) : null,
  };
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
