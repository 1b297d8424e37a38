import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { validatorsSource } from './validators-source.ts';

function sourceOf(field: z.ZodType): string {
  const body = z.object({ data: z.object({ field }) });
  const typeImport = "import type { B } from './b.ts';";
  return validatorsSource([{ type: 'a.b', version: '2026-11-01', body, typeName: 'B', typeImport }]);
}

describe('the generator of validators', () => {
  test.each<[string, z.ZodType]>([
    ['an array with a length', z.array(z.string()).max(3)],
    ['a number', z.number()],
    ['an integer with a limit', z.int().max(3)],
    ['a 32-bit integer', z.int32()],
    ['a union', z.union([z.string(), z.object({})])],
    ['an optional field', z.string().optional()],
    ['an object that keeps other fields', z.looseObject({})],
    ['an object that rejects other fields', z.strictObject({})],
    ['a literal number', z.literal(1)],
    ['several literals', z.literal(['a', 'b'])],
    ['a length', z.string().min(1)],
    ['a pattern and a length', z.string().regex(/a/).max(3)],
    ['a pattern with a state', z.string().regex(/a/g)],
    ['a refined string', z.string().refine(() => false)],
    ['a refined object', z.object({}).refine(() => false)],
    [
      'a refined nullable',
      z
        .string()
        .nullable()
        .refine(() => false),
    ],
    ['a refined time', z.iso.datetime().refine(() => false)],
    ['a time of another precision', z.iso.datetime()],
    ['a time with an offset', z.iso.datetime({ precision: 3, offset: true })],
    ['an email address', z.email()],
  ])('names the field of a kind that it does not support: %s', (_, schema) => {
    expect(() => sourceOf(schema)).toThrow(
      'a.b at 2026-11-01.data.field: a validator cannot be generated from this Zod',
    );
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
    expect(sourceOf(z.array(z.string()))).toContain('"field": array(text),\n');
    expect(sourceOf(z.int())).toContain('"field": integer,\n');
    expect(sourceOf(z.literal("it's"))).toContain('"field": literal("it\'s"),\n');
    expect(sourceOf(z.object({ x: z.string() }))).toContain('object({\n        "x": text,\n');
  });
});
