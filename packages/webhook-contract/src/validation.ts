/**
 * The checks that the generated validators consist of. They accept, reject and report what the zod schemas of the payloads
 * do, without zod, which would be most of a receiver's bundle.
 */

export type Validation<Value> =
  | { readonly ok: true; readonly value: Value }
  /** `problems`: one line each, `<path>: <message>`, in the order of the fields. */
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Checks a value from `JSON.parse`.
 *
 * @param path the path of the value in the body, for example `data.matterId`. Empty for the body.
 */
export type Validator<Value> = (input: unknown, path: string) => Validation<Value>;

export const text: Validator<string> = (input, path) =>
  typeof input === 'string' ? { ok: true, value: input } : wrongType('string', input, path);

export function literal<Value extends string>(expected: Value): Validator<Value> {
  return (input, path) =>
    input === expected
      ? { ok: true, value: expected }
      : problem(path, `Invalid input: expected ${JSON.stringify(expected)}`);
}

/** @param expected a regular expression without the flag `g` or `y`, whose matches would depend on earlier ones */
export function pattern(expected: RegExp): Validator<string> {
  return (input, path) => {
    const string = text(input, path);
    return !string.ok || expected.test(string.value)
      ? string
      : problem(path, `Invalid string: must match pattern ${String(expected)}`);
  };
}

/** A time in UTC with milliseconds, of a year from 0000 to 9999. */
export const isoDatetime: Validator<string> = (input, path) => {
  const string = text(input, path);
  // Years outside these have more characters.
  return !string.ok || (string.value.length === 24 && new Date(string.value).toJSON() === string.value)
    ? string
    : problem(path, 'Invalid ISO datetime');
};

/** A number without fraction that JavaScript represents exactly. */
export const integer: Validator<number> = (input, path) => {
  if (typeof input !== 'number' || !Number.isFinite(input)) return wrongType('number', input, path);
  if (!Number.isInteger(input)) return wrongType('int', input, path);
  const { MAX_SAFE_INTEGER: max, MIN_SAFE_INTEGER: min } = Number;
  if (input > max) return problem(path, `Too big: expected int to be <=${max}`);
  return input < min ? problem(path, `Too small: expected int to be >=${min}`) : { ok: true, value: input };
};

export function array<Item>(validator: Validator<Item>): Validator<Item[]> {
  return (input, path) => {
    if (!Array.isArray(input)) return wrongType('array', input, path);
    const value: Item[] = [];
    const problems: string[] = [];
    for (const [index, item] of input.entries()) {
      const result = validator(item, `${path}.${index}`);
      if (result.ok) value.push(result.value);
      else problems.push(...result.problems);
    }
    return problems.length > 0 ? { ok: false, problems } : { ok: true, value };
  };
}

export function nullable<Value>(validator: Validator<Value>): Validator<Value | null> {
  return (input, path) => (input === null ? { ok: true, value: null } : validator(input, path));
}

/** For a field of an object, which older bodies lack. */
export function optional<Value>(validator: Validator<Value>): Validator<Value> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `object` omits the field
  return (input, path) => (input === undefined ? { ok: true, value: undefined as Value } : validator(input, path));
}

/** Requires every field that is not optional, and removes those that it does not know. */
export function object<Value extends object>(fields: {
  readonly [Key in keyof Value]-?: Validator<Value[Key]>;
}): Validator<Value> {
  const validators = Object.entries<Validator<unknown>>(fields);
  return (input, path) => {
    if (!isObject(input)) return wrongType('object', input, path);
    const value: Record<string, unknown> = {};
    const problems: string[] = [];
    for (const [name, validator] of validators) {
      const result = validator(input[name], path === '' ? name : `${path}.${name}`);
      if (!result.ok) problems.push(...result.problems);
      else if (result.value !== undefined) value[name] = result.value;
    }
    if (problems.length > 0) return { ok: false, problems };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was checked by its validator
    return { ok: true, value: value as Value };
  };
}

/** An object with any fields. Removes a field named `__proto__`, which would replace the prototype when it is copied. */
export const record: Validator<Record<string, unknown>> = (input, path) =>
  isObject(input)
    ? { ok: true, value: Object.fromEntries(Object.entries(input).filter(([name]) => name !== '__proto__')) }
    : wrongType('object', input, path);

export function isObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function wrongType(expected: string, input: unknown, path: string): Validation<never> {
  return problem(path, `Invalid input: expected ${expected}, received ${typeNameOf(input)}`);
}

function typeNameOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'array';
  // A number such as 1e999 in JSON.
  if (typeof input === 'number' && !Number.isFinite(input)) return String(input);
  return typeof input;
}

function problem(path: string, message: string): Validation<never> {
  return { ok: false, problems: [`${path === '' ? 'body' : path}: ${message}`] };
}
