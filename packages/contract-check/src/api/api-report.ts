import { locationAt, type Locator } from '../change.ts';
import { childPointer } from '../json/json-value.ts';
import { parseJson, type JsonDocument } from '../json/parse-json.ts';
import { validatorOf } from '../json/validator.ts';
import type { SourceText } from '../text-file.ts';
import type { Reported } from './generate/create-reports.ts';

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

/** A declaration in the file. */
type Written = Omit<Reported, 'kind'> & { readonly kind: string };

const validate = validatorOf<{ readonly format?: unknown; readonly declarations: Readonly<Record<string, Written>> }>(
  'config.schema.json',
  'apiReport',
);

/** Reads an API report. */
export function readApiReport(source: SourceText): ApiReport {
  const document = parseJson(source);
  const { format, declarations } = validate(document, document.value);
  // Reports of version 4.1 and earlier have no format.
  const isComplete = format !== undefined;
  return {
    declarations: new Map(
      Object.entries(declarations).map(([name, { kind, signature, members, union = [], ...rest }]) => [
        name,
        {
          kind,
          signature,
          members: new Map(
            Object.entries(members ?? {}).map(([path, text]) => [
              path.replace(/\?$/, ''),
              { signature: text.replace(nativeCode, ''), optional: path.endsWith('?') },
            ]),
          ),
          union: new Set(union.flatMap((type) => (type === 'boolean' ? ['false', 'true'] : type))),
          isInput: rest.input ?? false,
          isNominal: rest.nominal ?? null,
          isTypeOnly: isComplete ? (rest.typeOnly ?? false) : null,
          references: isComplete ? new Map(Object.entries(rest.references ?? {})) : null,
        },
      ]),
    ),
    locator: locatorOf(document),
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
