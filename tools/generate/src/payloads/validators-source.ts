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

/**
 * Returns the source of `src/generated/validators.ts` in `webhook-events` and `webhook-contract`: the zod schemas of the payloads as calls of
 * its `src/validation.ts`.
 *
 * @throws {TypeError} when a schema contains a kind that `src/validation.ts` does not have. The message names the field.
 */
export function validatorsSource(payloads: readonly ValidatedPayload[]): string {
  const used = new Set<string>();
  /** Regular expressions, which many fields share → the constant that holds the compiled one. */
  const constants = new Map<string, string>();

  function use(name: string): string {
    used.add(name);
    return name;
  }

  function call(name: string, argument: string): string {
    return `${use(name)}(${argument})`;
  }

  function pattern(expected: RegExp): string {
    const expression = call('pattern', String(expected));
    const declared = constants.get(expression) ?? `pattern${constants.size + 1}`;
    constants.set(expression, declared);
    return declared;
  }

  function validator(schema: z.core.$ZodType, path: readonly string[]): string {
    const [check, ...otherChecks] = schema._zod.def.checks ?? [];
    if (check === undefined) {
      if (schema instanceof z.ZodObject && schema.def.catchall === undefined) {
        const indent = '  '.repeat(path.length);
        const fields = Object.entries(schema.shape).map(
          ([name, field]) => `${indent}  ${JSON.stringify(name)}: ${validator(field, [...path, name])},\n`,
        );
        return call('object', `{\n${fields.join('')}${indent}}`);
      }
      if (schema instanceof z.ZodExactOptional) return call('optional', validator(schema.unwrap(), path));
      if (schema instanceof z.ZodNullable) return call('nullable', validator(schema.unwrap(), path));
      if (schema instanceof z.ZodLiteral && schema.def.values.length === 1 && typeof schema.value === 'string')
        return call('literal', JSON.stringify(schema.value));
      if (schema instanceof z.ZodISODateTime && String(schema.def.pattern) === String(isoDatetime.def.pattern))
        return use('isoDatetime');
      if (schema instanceof z.ZodString) return use('text');
      if (schema instanceof z.ZodArray) return call('array', validator(schema.element, path));
      if (schema instanceof z.ZodNumberFormat && schema.format === 'safeint') return use('integer');
    }
    if (schema instanceof z.ZodString && check instanceof z.core.$ZodCheckRegex && otherChecks.length === 0) {
      const { pattern: expected } = check._zod.def;
      // A match with one of these flags starts where the last one ended.
      if (!expected.global && !expected.sticky) return pattern(expected);
    }
    throw new TypeError(
      `${path.join('.')}: a validator cannot be generated from this ${schema.constructor.name}. Add the kind to packages/webhook-contract/src/validation.ts and tools/generate/src/payloads/validators-source.ts.`,
    );
  }

  const entries = payloads.map(
    ({ type, version, body, typeName }) =>
      `  [${JSON.stringify(`${type}/${version}`)}, ${validator(body, [`${type} at ${version}`]).replace('(', `<${typeName}>(`)}],\n`,
  );
  return [
    `${banner}\n`,
    `import { ${[...used].toSorted().join(', ')}, type Validator } from '../validation.ts';\n`,
    ...payloads.map(({ typeImport }) => `${typeImport}\n`),
    "import type { WebhookEvent } from './webhook-event.ts';\n\n",
    ...[...constants].map(([expression, name]) => `const ${name} = ${expression};\n`),
    '\n/** `<type>/<version>` → the validator of the whole body. */\n',
    'export const validators: ReadonlyMap<string, Validator<WebhookEvent>> = new Map<string, Validator<WebhookEvent>>([\n',
    ...entries,
    ']);\n',
  ].join('');
}
