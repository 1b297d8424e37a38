import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { didYouMean } from '../suggest.ts';
import { JsonNumber, childPointer, isJsonObject, type JsonValue } from './json-value.ts';
import { failIn, type JsonDocument } from './parse-json.ts';

/** Checks that a value has the type that a JSON Schema describes. */
export type Validate<T> = (document: JsonDocument, value: JsonValue, at?: string) => T;

/**
 * Returns a function that validates with a JSON Schema of this package. `T` is the type that the schema describes. The
 * function throws an `InputError` with the JSON Pointer and the line of the first invalid value. `at` is the pointer of
 * the value in its document.
 *
 * @param file the schema, relative to the folder of the package
 * @param definition the name of a schema in its `$defs`. Omitted for the schema itself.
 */
export function validatorOf<T>(file: string, definition?: string): Validate<T> {
  let compiled: ValidateFunction<T> | undefined;
  return (document, value, at = '') => {
    compiled ??= compile<T>(file, definition);
    const plain = plainValue(document, value, at);
    if (compiled(plain)) return plain;
    const { pointer, problem } = describe(compiled.errors ?? []);
    return failIn(document, `${at}${pointer}`, problem);
  };
}

/** The value with doubles as numbers. A number that no double holds is an error, because a double would be another number. */
function plainValue(document: JsonDocument, value: JsonValue, at: string): unknown {
  if (value instanceof JsonNumber) {
    const double = Number(String(value));
    if (String(value) === String(double)) return double;
    failIn(document, at, `must be a number that a double holds, not ${String(value)}`);
  }
  if (Array.isArray(value)) return value.map((each, index) => plainValue(document, each, childPointer(at, index)));
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value);
  return Object.fromEntries(
    members.map(([name, member]) => [name, plainValue(document, member, childPointer(at, name))]),
  );
}

function compile<T>(file: string, definition?: string): ValidateFunction<T> {
  const schema: object = JSON.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));
  const ajv = new Ajv2020({ allowUnionTypes: true, allErrors: true, verbose: true, strictRequired: false });
  ajv.addSchema(schema, file);
  return ajv.compile<T>({ $ref: definition === undefined ? file : `${file}#/$defs/${definition}` });
}

/** The error with the deepest place: of a value with several forms, such as a number or an object, the form that was meant. */
function describe(errors: readonly ErrorObject[]) {
  const [first, ...rest] = errors.map(describeError);
  if (first === undefined) return { pointer: '', problem: 'is not valid' };
  return rest.reduce((best, error) => (depth(error.pointer) > depth(best.pointer) ? error : best), first);
}

function describeError({ instancePath, keyword, params, message = 'is not valid', parentSchema }: ErrorObject) {
  const extra: unknown = params['additionalProperty'];
  if (keyword === 'additionalProperties' && typeof extra === 'string') {
    const known: unknown = parentSchema?.['properties'];
    const names = typeof known === 'object' && known !== null ? Object.keys(known) : [];
    return { pointer: childPointer(instancePath, extra), problem: `is not a known member${didYouMean(extra, names)}` };
  }
  const allowed: unknown = params['allowedValues'];
  if (Array.isArray(allowed))
    return { pointer: instancePath, problem: `must be one of ${allowed.map(String).join(', ')}` };
  if (keyword === 'pattern' && parentSchema?.['description'] !== undefined)
    return { pointer: instancePath, problem: `must be ${String(parentSchema['description'])}` };
  return { pointer: instancePath, problem: message };
}

function depth(pointer: string): number {
  return pointer.split('/').length;
}
