// oxlint-disable no-underscore-dangle -- `_zod` is zod's documented property for tools that read schemas
import { z } from 'zod';
import { banner } from '../generated.ts';

/** A payload whose validator is generated. */
export interface ValidatedPayload {
  readonly type: string;
  readonly version: string;
  readonly body: z.ZodType;
  /** The name under which its type is imported. */
  readonly typeName: string;
  /** The statement that imports its type. */
  readonly typeImport: string;
}

/** The only kind of time that `isoDatetime` of `src/validation.ts` accepts. */
const isoDatetime = z.iso.datetime({ precision: 3 });

/** What a schema that is not supported is called, and what to write instead. */
const replacements: Readonly<Record<string, string>> = {
  ZodDate: 'z.iso.datetime({ precision: 3 })',
  ZodISODateTime: 'z.iso.datetime({ precision: 3 })',
  ZodUnion: 'one z.object() with optional members, or z.enum() for several texts',
  ZodDiscriminatedUnion: 'one z.object() with optional members, or an event type for each alternative',
  ZodRecord: 'z.array() of z.object() with a key and a value',
  ZodMap: 'z.array() of z.object() with a key and a value',
  ZodDefault: '.optional()',
  ZodBigInt: 'z.string() with a pattern',
  ZodOptional: 'it last, for a member of an object: .nullable().optional()',
  ZodExactOptional: 'it last, for a member of an object: .nullable().exactOptional()',
};

/** Where generated code is collected that several validators share. */
class Shared {
  readonly used = new Set<string>();
  /** Regular expressions, which many fields share → the constant that holds the compiled one. */
  readonly constants = new Map<string, string>();

  use(name: string): string {
    this.used.add(name);
    return name;
  }

  call(name: string, ...codes: readonly string[]): string {
    return `${this.use(name)}(${codes.join(', ')})`;
  }

  constant(expression: string): string {
    const declared = this.constants.get(expression) ?? `pattern${this.constants.size + 1}`;
    this.constants.set(expression, declared);
    return declared;
  }
}

/**
 * Returns the source of `src/generated/validators.ts` in `webhook-events` and `webhook-contract`: the zod schemas of the payloads as calls of
 * its `src/validation.ts`.
 *
 * @throws {TypeError} when a schema contains a kind that a payload cannot have. The message names the field.
 */
export function validatorsSource(payloads: readonly ValidatedPayload[]): string {
  const shared = new Shared();
  const entries = payloads.map(
    ({ type, version, body, typeName }) =>
      `  [${JSON.stringify(`${type}/${version}`)}, ${validatorOf(body, [`${type} at ${version}`], shared).replace('(', `<${typeName}>(`)}],\n`,
  );
  return [
    `${banner}\n`,
    `import { ${[...shared.used].toSorted().join(', ')}, type Validator } from '../validation.ts';\n`,
    ...payloads.map(({ typeImport }) => `${typeImport}\n`),
    "import type { WebhookEvent } from './webhook-event.ts';\n\n",
    ...[...shared.constants].map(([expression, name]) => `const ${name} = ${expression};\n`),
    '\n/** `<type>/<version>` → the validator of the whole body. */\n',
    'export const validators: ReadonlyMap<string, Validator<WebhookEvent>> = new Map<string, Validator<WebhookEvent>>([\n',
    ...entries,
    ']);\n',
  ].join('');
}

/**
 * Refuses a body with something that a payload cannot have, before it becomes a JSON Schema, which may not have it either.
 *
 * @throws {TypeError} that names the field
 */
export function requireSupported(type: string, version: string, body: z.core.$ZodType): void {
  validatorOf(body, [`${type} at ${version}`], new Shared());
}

/** The code of the validator of a schema. */
function validatorOf(schema: z.core.$ZodType, path: readonly string[], shared: Shared): string {
  if (path.length > 30) refuse(path, 'an object that contains itself, or more than 30 levels');
  const { def } = schema._zod;
  if (def.error !== undefined) refuse(path, 'a custom error message');
  const checks = def.checks ?? [];
  const isPlain = checks.length === 0;
  const kinds = checks.map((check) => check._zod.def.check);
  const isExact = kinds.includes('length_equals') && kinds.some((kind) => /^(?:min|max)_length$/.test(kind));
  if (new Set(kinds).size < kinds.length || isExact)
    refuse(path, `the checks ${kinds.join(', ')} together`, 'one for each limit');
  if (schema instanceof z.ZodObject && schema.def.catchall === undefined && isPlain) {
    const indent = '  '.repeat(path.length);
    const fields = Object.entries(schema.shape).map(
      ([name, field]) => `${indent}  ${JSON.stringify(name)}: ${memberOf(field, [...path, name], shared)},\n`,
    );
    return shared.call('object', `{\n${fields.join('')}${indent}}`);
  }
  if (schema instanceof z.ZodNullable && isPlain)
    return shared.call('nullable', validatorOf(schema.unwrap(), path, shared));
  if (schema instanceof z.ZodLiteral && isPlain) return valuesOf(schema.def.values, path, shared);
  if (schema instanceof z.ZodEnum && isPlain) return valuesOf(Object.values(schema.def.entries), path, shared);
  if (schema instanceof z.ZodBoolean && isPlain && !isCoerced(schema)) return shared.use('boolean');
  if (schema instanceof z.ZodISODateTime && isPlain && String(schema.def.pattern) === String(isoDatetime.def.pattern))
    return shared.use('isoDatetime');
  if ((schema instanceof z.ZodUUID || schema instanceof z.ZodGUID) && isPlain) {
    const name = JSON.stringify(schema.def.format.toUpperCase());
    return shared.constant(shared.call('format', name, String(schema.def.pattern)));
  }
  if (schema instanceof z.ZodString && !isCoerced(schema)) return textOf(checks, path, shared);
  if (schema instanceof z.ZodArray) {
    if (schema.element instanceof z.ZodArray) refuse(path, 'an array of arrays', 'an array of z.object()');
    const element = validatorOf(schema.element, [...path.slice(0, -1), `${path.at(-1)}[]`], shared);
    const array = shared.call('array', element);
    const limits = checks.map((check) => limitOf(check, path, '.min(), .max() and .length()').join(': '));
    return limits.length === 0 ? array : shared.call('limited', array, `{ ${limits.join(', ')} }`);
  }
  if (schema instanceof z.ZodNumberFormat && schema.format === 'safeint')
    return checkedBy(
      shared.use('integer'),
      checks.map((check) => boundOf(check, path, shared)),
      shared,
    );
  // An integer of another size is one with bounds.
  if (schema instanceof z.ZodNumber && !(schema instanceof z.ZodNumberFormat) && !isCoerced(schema))
    return checkedBy(
      shared.use('number'),
      checks.map((check) => boundOf(check, path, shared)),
      shared,
    );
  return refuse(path, `this ${nameOf(schema)}`, replacements[schema.constructor.name]);
}

/** A member of an object. Only a member can be absent. */
function memberOf(schema: z.core.$ZodType, path: readonly string[], shared: Shared): string {
  const isOptional = schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional;
  if (!isOptional || (schema._zod.def.checks ?? []).length > 0) return validatorOf(schema, path, shared);
  return shared.call('optional', validatorOf(schema.unwrap(), path, shared));
}

function valuesOf(values: readonly unknown[], path: readonly string[], shared: Shared): string {
  const [type, ...otherTypes] = new Set(values.map((value) => typeof value));
  const isSupported = type === 'string' || type === 'number' || type === 'boolean';
  if (!isSupported || otherTypes.length > 0 || new Set(values).size < values.length)
    refuse(path, 'these values', 'different texts, or different numbers, or true or false');
  return shared.call(values.length === 1 ? 'literal' : 'oneOf', ...values.map((value) => JSON.stringify(value)));
}

function textOf(checks: readonly z.core.$ZodCheck[], path: readonly string[], shared: Shared): string {
  const pattern = checks.find((check) => check instanceof z.core.$ZodCheckRegex);
  if (pattern !== undefined && checks.length === 1)
    return shared.constant(shared.call('pattern', patternOf(pattern, path)));
  const codes = checks.map((check) => {
    if (check === pattern) return shared.constant(shared.call('matching', patternOf(pattern, path)));
    const [name, limit] = limitOf(check, path, '.min(), .max(), .length() and .regex()');
    return shared.call(textLimits[name], String(limit));
  });
  return checkedBy(shared.use('text'), codes, shared);
}

/** A pattern means the same in JSON Schema, which reads it with the flag `u` and knows no other flag. */
function patternOf(check: z.core.$ZodCheckRegex, path: readonly string[]): string {
  const { pattern, error } = check._zod.def;
  if (error !== undefined) refuse(path, 'a custom error message');
  const { flags, source } = pattern;
  if (flags !== '' && flags !== 'u')
    refuse(path, `a pattern with the flag ${flags}`, 'a pattern without flags, or with u');
  try {
    RegExp(source, 'u');
  } catch {
    refuse(path, `the pattern ${String(pattern)}, which is none with the flag u`, 'a pattern that is valid with u');
  }
  // Without `u`, these match one half of a character such as an emoji.
  if (flags === '' && /\.|\[\^|\\[DSWu]|[^\0-\x7f]/.test(source.replaceAll(/\\[^DSWu]/g, '')))
    refuse(path, `the pattern ${String(pattern)} without the flag u`, `${String(pattern)}u`);
  return String(pattern);
}

/** The limit that a check sets to the length of a text or an array. */
function limitOf(
  check: z.core.$ZodCheck,
  path: readonly string[],
  possible: string,
): [name: 'min' | 'max' | 'length', limit: number] {
  if (check._zod.def.error !== undefined) refuse(path, 'a custom error message');
  if (check instanceof z.core.$ZodCheckMinLength) return ['min', check._zod.def.minimum];
  if (check instanceof z.core.$ZodCheckMaxLength) return ['max', check._zod.def.maximum];
  if (check instanceof z.core.$ZodCheckLengthEquals) return ['length', check._zod.def.length];
  return refuse(path, `the check ${nameOfCheck(check)}`, possible);
}

/** The names in `src/validation.ts`. */
const textLimits = { min: 'minCharacters', max: 'maxCharacters', length: 'characters' } as const;

function boundOf(check: z.core.$ZodCheck, path: readonly string[], shared: Shared): string {
  if (check._zod.def.error !== undefined) refuse(path, 'a custom error message');
  if (check instanceof z.core.$ZodCheckGreaterThan || check instanceof z.core.$ZodCheckLessThan) {
    const { value, inclusive } = check._zod.def;
    const [closed, open] = check instanceof z.core.$ZodCheckGreaterThan ? ['atLeast', 'above'] : ['atMost', 'below'];
    if (typeof value === 'number' && Number.isFinite(value))
      return shared.call(inclusive ? closed : open, String(value));
  }
  return refuse(path, `the check ${nameOfCheck(check)}`, '.min(), .max(), .gt() and .lt(), and z.int() for an integer');
}

function checkedBy(validator: string, checks: readonly string[], shared: Shared): string {
  return checks.length === 0 ? validator : shared.call('checked', validator, ...checks);
}

function isCoerced(schema: z.ZodString | z.ZodNumber | z.ZodBoolean): boolean {
  return schema.def.coerce === true;
}

function nameOf(schema: z.core.$ZodType): string {
  const checks = (schema._zod.def.checks ?? []).map(nameOfCheck);
  return `${schema.constructor.name}${checks.length === 0 ? '' : ` with ${checks.join(', ')}`}`;
}

/** For example `starts_with`, or `custom` of `.refine()`. */
function nameOfCheck(check: z.core.$ZodCheck): string {
  const { def } = check._zod;
  return 'format' in def ? String(def.format) : def.check;
}

function refuse(path: readonly string[], what: string, instead?: string): never {
  const use = instead === undefined ? '' : ` Use ${instead}.`;
  throw new TypeError(
    `${path.join('.')}: a payload cannot have ${what}.${use} docs/payloads.md lists what it can have.`,
  );
}
