import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { validatorsSource } from './validators-source.ts';

function sourceOf(field: z.ZodType): string {
  const body = z.object({ data: z.object({ field }) });
  const typeImport = "import type { B } from './b.ts';";
  return validatorsSource([{ type: 'a.b', version: '2026-11-01', body, typeName: 'B', typeImport }]);
}

describe('the generator of validators', () => {
  test.each<[string, z.ZodType, string]>([
    ['a 32-bit integer', z.int32(), 'this ZodNumberFormat.'],
    ['an integer by a check', z.number().int(), 'the check safeint. Use .min(), .max(), .gt() and .lt(), and z.int()'],
    ['a multiple', z.int().multipleOf(5), 'the check multiple_of. Use .min(), .max()'],
    ['a union', z.union([z.string(), z.object({})]), 'this ZodUnion. Use one z.object() with optional members'],
    ['a tuple', z.tuple([z.string()]), 'this ZodTuple.'],
    ['a record', z.record(z.string(), z.string()), 'this ZodRecord. Use z.array() of z.object()'],
    ['a date', z.date(), 'this ZodDate. Use z.iso.datetime({ precision: 3 }).'],
    ['a big integer', z.bigint(), 'this ZodBigInt. Use z.string() with a pattern.'],
    ['anything', z.any(), 'this ZodAny.'],
    ['a default', z.string().default('a'), 'this ZodDefault. Use .optional().'],
    ['a transformation', z.string().transform(Number), 'this ZodPipe.'],
    ['a trimmed text', z.string().trim(), 'the check overwrite. Use .min(), .max(), .length() and .regex().'],
    ['a coerced number', z.coerce.number(), 'this ZodNumber.'],
    ['an object that keeps other fields', z.looseObject({}), 'this ZodObject.'],
    ['an object that rejects other fields', z.strictObject({}), 'this ZodObject.'],
    ['a literal without a value in JSON', z.literal(undefined), 'these values. Use different texts'],
    ['values of several types', z.literal(['a', 1]), 'these values. Use different texts'],
    ['repeated values', z.enum({ A: 'a', B: 'a' }), 'these values. Use different texts'],
    ['no value', z.enum([]), 'these values. Use different texts'],
    [
      'two patterns',
      z.string().regex(/^a/).regex(/b$/),
      'the checks string_format, string_format together. Use one for each limit.',
    ],
    ['two limits', z.string().max(3).max(5), 'the checks max_length, max_length together.'],
    ['a length and a limit', z.array(z.string()).length(3).max(5), 'the checks length_equals, max_length together.'],
    [
      'a pattern with a state',
      z.string().regex(/a/g),
      'a pattern with the flag g. Use a pattern without flags, or with u.',
    ],
    ['a pattern without case', z.string().regex(/^a$/i), 'a pattern with the flag i.'],
    [
      'a pattern that is none with u',
      z.string().regex(new RegExp(String.raw`^a\_b$`)),
      'the pattern /^a\\_b$/, which is none with the flag u.',
    ],
    [
      'a pattern with half characters',
      z.string().regex(/^[^/]+$/),
      'the pattern /^[^/]+$/ without the flag u. Use /^[^/]+$/u.',
    ],
    ['a start', z.string().startsWith('a'), 'the check starts_with. Use .min(), .max(), .length() and .regex().'],
    ['a UUID by a check', z.string().uuid(), 'the check uuid.'],
    ['a refined string', z.string().refine(() => false), 'the check custom.'],
    ['a refined object', z.object({}).refine(() => false), 'this ZodObject with custom.'],
    ['a refined array', z.array(z.string()).refine(() => false), 'the check custom. Use .min(), .max() and .length().'],
    [
      'a refined nullable',
      z
        .string()
        .nullable()
        .refine(() => false),
      'this ZodNullable with custom.',
    ],
    [
      'a refined optional',
      z
        .string()
        .optional()
        .refine(() => false),
      'this ZodOptional with custom.',
    ],
    ['a refined time', z.iso.datetime().refine(() => false), 'this ZodISODateTime with custom.'],
    ['a time of another precision', z.iso.datetime(), 'this ZodISODateTime. Use z.iso.datetime({ precision: 3 }).'],
    ['a time with an offset', z.iso.datetime({ precision: 3, offset: true }), 'this ZodISODateTime.'],
    ['an email address', z.email(), 'this ZodEmail.'],
    ['an optional that can be null', z.string().optional().nullable(), 'this ZodOptional. Use it last'],
    ['a message', z.string('No.'), 'a custom error message.'],
    ['a message of a limit', z.string().max(3, 'No.'), 'a custom error message.'],
    ['a message of a bound', z.int().max(3, 'No.'), 'a custom error message.'],
    ['a message of a pattern', z.string().regex(/^a$/, 'No.'), 'a custom error message.'],
    ['an array of arrays', z.array(z.array(z.string())), 'an array of arrays. Use an array of z.object().'],
  ])('refuses a field of a kind that a payload cannot have: %s', (_, schema, expected) => {
    const write = () => sourceOf(schema);
    expect(write).toThrow(`a.b at 2026-11-01.data.field: a payload cannot have ${expected}`);
    expect(write).toThrow(/docs\/payloads\.md lists what it can have\.$/);
  });

  test('names a field of the items of an array, and an optional item', () => {
    expect(() => sourceOf(z.array(z.object({ at: z.date() })))).toThrow('data.field[].at: a payload cannot have');
    expect(() => sourceOf(z.array(z.string().optional()))).toThrow('data.field[]: a payload cannot have');
  });

  test('refuses an object that contains itself', () => {
    const node = z.object({
      get child() {
        return node.nullable();
      },
    });
    expect(() => sourceOf(node)).toThrow('a payload cannot have an object that contains itself');
  });

  test('writes each kind that it supports', () => {
    expect(
      sourceOf(
        z
          .string()
          .regex(/^a"\/$/)
          .nullable(),
      ),
    ).toContain('const pattern1 = pattern(/^a"\\/$/);\n');
    expect(sourceOf(z.iso.datetime({ precision: 3 }))).toContain('"field": isoDatetime,\n');
    expect(sourceOf(z.string().nullable())).toContain('"field": nullable(text),\n');
    expect(sourceOf(z.string().exactOptional())).toContain('"field": optional(text),\n');
    expect(sourceOf(z.string().nullish())).toContain('"field": optional(nullable(text)),\n');
    expect(sourceOf(z.array(z.string()))).toContain('"field": array(text),\n');
    expect(sourceOf(z.array(z.string()).nonempty().max(3))).toContain(
      '"field": limited(array(text), { min: 1, max: 3 }),\n',
    );
    expect(sourceOf(z.int())).toContain('"field": integer,\n');
    expect(sourceOf(z.int().positive().max(3))).toContain('"field": checked(integer, above(0), atMost(3)),\n');
    expect(sourceOf(z.number().min(0.5).lt(3))).toContain('"field": checked(number, atLeast(0.5), below(3)),\n');
    expect(sourceOf(z.string().min(1).max(5))).toContain(
      '"field": checked(text, minCharacters(1), maxCharacters(5)),\n',
    );
    const limited = sourceOf(z.string().max(5).regex(/^a$/));
    expect(limited).toContain('const pattern1 = matching(/^a$/);\n');
    expect(limited).toContain('"field": checked(text, maxCharacters(5), pattern1),\n');
    expect(sourceOf(z.enum(['a', 'b']))).toContain('"field": oneOf("a", "b"),\n');
    expect(sourceOf(z.literal(1))).toContain('"field": literal(1),\n');
    expect(sourceOf(z.boolean())).toContain('"field": boolean,\n');
    expect(sourceOf(z.uuidv4())).toContain('const pattern1 = format("UUID", /^([0-9a-fA-F]{8}-');
    expect(sourceOf(z.guid())).toContain('const pattern1 = format("GUID", /^([0-9a-fA-F]{8}-');
    expect(sourceOf(z.literal("it's"))).toContain('"field": literal("it\'s"),\n');
    expect(sourceOf(z.object({ x: z.string() }))).toContain('object({\n        "x": text,\n');
  });
});
