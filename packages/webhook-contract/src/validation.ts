/**
 * The checks that the generated validators consist of. They accept and reject what the zod schemas of the payloads do, and report it in
 * zod's words, without zod, which would be most of a receiver's bundle. Of a value of the wrong type they report the type alone.
 */

interface Failure {
  readonly ok: false;
  /** One line each, `<path>: <message>`, in the order of the fields. */
  readonly problems: readonly string[];
}

export type Validation<Value> = { readonly ok: true; readonly value: Value } | Failure;

/**
 * Checks a value from `JSON.parse`.
 *
 * @param path the path of the value in the body, for example `data.matterId`. Empty for the body.
 */
export type Validator<Value> = (input: unknown, path: string) => Validation<Value>;

export const text: Validator<string> = (input, path) =>
  typeof input === 'string' ? { ok: true, value: input } : wrongType('string', input, path);

export const boolean: Validator<boolean> = (input, path) =>
  typeof input === 'boolean' ? { ok: true, value: input } : wrongType('boolean', input, path);

export function literal<Value extends string | number | boolean>(expected: Value): Validator<Value> {
  return (input, path) =>
    input === expected
      ? { ok: true, value: expected }
      : problem(path, `Invalid input: expected ${JSON.stringify(expected)}`);
}

export function oneOf<Value extends string | number | boolean>(...expected: readonly Value[]): Validator<Value> {
  return (input, path) => {
    const value = expected.find((each) => each === input);
    if (value !== undefined) return { ok: true, value };
    return problem(path, `Invalid option: expected one of ${expected.map((each) => JSON.stringify(each)).join('|')}`);
  };
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

/**
 * A text of a format such as `UUID`.
 *
 * @param expected as of `pattern`
 */
export function format(name: string, expected: RegExp): Validator<string> {
  return checked(text, (value) => (expected.test(value) ? null : `Invalid ${name}`));
}

/** A time in UTC with milliseconds, of a year from 0000 to 9999. */
export const isoDatetime: Validator<string> = (input, path) => {
  const string = text(input, path);
  // Years outside these have more characters.
  return !string.ok || (string.value.length === 24 && new Date(string.value).toJSON() === string.value)
    ? string
    : problem(path, 'Invalid ISO datetime');
};

export const number: Validator<number> = (input, path) =>
  typeof input === 'number' && Number.isFinite(input) ? { ok: true, value: input } : wrongType('number', input, path);

/** A number without fraction that JavaScript represents exactly. */
export const integer: Validator<number> = (input, path) => {
  if (typeof input !== 'number' || !Number.isFinite(input)) return wrongType('number', input, path);
  if (!Number.isInteger(input)) return wrongType('int', input, path);
  const { MAX_SAFE_INTEGER: max, MIN_SAFE_INTEGER: min } = Number;
  if (input > max) return problem(path, `Too big: expected int to be <=${max}`);
  return input < min ? problem(path, `Too small: expected int to be >=${min}`) : { ok: true, value: input };
};

/** The problem with a value of the right type. Null if there is none. */
type Check<Value> = (value: Value) => string | null;

/** Applies the checks to a value that the validator accepts, and reports all that fail. */
export function checked<Value>(validator: Validator<Value>, ...checks: readonly Check<Value>[]): Validator<Value> {
  return (input, path) => {
    const result = validator(input, path);
    if (!result.ok) return result;
    const problems = checks.flatMap((check) => {
      const message = check(result.value);
      return message === null ? [] : problem(path, message).problems;
    });
    return problems.length > 0 ? { ok: false, problems } : result;
  };
}

/** @param expected as of `pattern` */
export function matching(expected: RegExp): Check<string> {
  return (value) => (expected.test(value) ? null : `Invalid string: must match pattern ${String(expected)}`);
}

// A text is measured in Unicode code points, as JSON Schema does.

export function minCharacters(min: number): Check<string> {
  return (value) => ([...value].length < min ? `Too small: expected string to have >=${min} characters` : null);
}

export function maxCharacters(max: number): Check<string> {
  return (value) => ([...value].length > max ? `Too big: expected string to have <=${max} characters` : null);
}

export function characters(count: number): Check<string> {
  return (value) => {
    const { length } = [...value];
    if (length === count) return null;
    return `Too ${length < count ? 'small' : 'big'}: expected string to have exactly ${count} characters`;
  };
}

export function atLeast(min: number): Check<number> {
  return (value) => (value >= min ? null : `Too small: expected number to be >=${min}`);
}

export function above(limit: number): Check<number> {
  return (value) => (value > limit ? null : `Too small: expected number to be >${limit}`);
}

export function atMost(max: number): Check<number> {
  return (value) => (value <= max ? null : `Too big: expected number to be <=${max}`);
}

export function below(limit: number): Check<number> {
  return (value) => (value < limit ? null : `Too big: expected number to be <${limit}`);
}

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

/** How many items an array has. */
interface Limits {
  readonly min?: number;
  readonly max?: number;
  readonly length?: number;
}

/** An array within limits. The items of an array with too many are not checked. */
export function limited<Item>(validator: Validator<Item[]>, { min, max, length }: Limits): Validator<Item[]> {
  const [least, most] = [length ?? min ?? 0, length ?? max ?? Infinity];
  const exactly = length === undefined ? '' : 'exactly ';
  return (input, path) => {
    const count = Array.isArray(input) ? input.length : least;
    if (count > most) return problem(path, `Too big: expected array to have ${exactly || '<='}${most} items`);
    const result = validator(input, path);
    if (count >= least) return result;
    const { problems } = problem(path, `Too small: expected array to have ${exactly || '>='}${least} items`);
    return { ok: false, problems: result.ok ? problems : [...result.problems, ...problems] };
  };
}

export function nullable<Value>(validator: Validator<Value>): Validator<Value | null> {
  return (input, path) => (input === null ? { ok: true, value: null } : validator(input, path));
}

/** For a field of an object. */
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

function wrongType(expected: string, input: unknown, path: string): Failure {
  return problem(path, `Invalid input: expected ${expected}, received ${typeNameOf(input)}`);
}

function typeNameOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'array';
  // A number such as 1e999 in JSON.
  if (typeof input === 'number' && !Number.isFinite(input)) return String(input);
  return typeof input;
}

function problem(path: string, message: string): Failure {
  return { ok: false, problems: [`${path === '' ? 'body' : path}: ${message}`] };
}
