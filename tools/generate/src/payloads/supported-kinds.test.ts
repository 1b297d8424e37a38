import { deepStrictEqual } from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runInNewContext } from 'node:vm';
import { payloadFields } from '@deedwire/core/payload-fields';
import { names } from '@deedwire/layout/shop/names';
import { Ajv } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { strict } from '../../../../packages/webhook-contract/src/strict.ts';
import { body, everyKind, typical } from '../../test/support/every-kind.ts';
import { commonFolder } from '../platform-folders.ts';
import { workspaceRoot } from '../workspace-files.ts';
import { asyncApiDocument } from './asyncapi-document.ts';
import { deriveFixtures } from './derived-fixtures.ts';
import { publishedSchema, typedSchema } from './payload-schema.ts';
import { supportedKinds } from './supported-kinds.ts';
import { typeOfSchema } from './type-of-schema.ts';
import { validatorsSource } from './validators-source.ts';

const schema = publishedSchema(body, 'order.paid.ts');
const fixtures = deriveFixtures(schema, typical);

test.each(supportedKinds)('$code is what the page says', ({ code, schema: kind }) => {
  const written: z.ZodType = runInNewContext(code, { z });
  expect(publishedSchema(written, '')).toEqual(publishedSchema(kind, ''));
  expect(validatorsSource([payloadOf(written)])).toEqual(validatorsSource([payloadOf(kind)]));
});

function payloadOf(field: z.ZodType) {
  const typeImport = "import type { OrderPaid } from './order-paid.ts';";
  return { type: 'order.paid', version: '2027-06-01', body: z.object({ field }), typeName: 'OrderPaid', typeImport };
}

type Result = { ok: true; value: unknown } | { ok: false; problems: string[] };

const folder = mkdtempSync(join(tmpdir(), 'every-kind-'));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, 'generated'));
cpSync(join(workspaceRoot, 'packages/webhook-contract/src/validation.ts'), join(folder, 'validation.ts'));
writeFileSync(join(folder, 'generated/validators.ts'), validatorsSource([{ ...payloadOf(z.string()), body }]));
const { validators }: { validators: ReadonlyMap<string, (input: unknown, path: string) => Result> } = await import(
  pathToFileURL(join(folder, 'generated/validators.ts')).href
);
const validate = (input: unknown): Result => {
  const validator = validators.get('order.paid/2027-06-01');
  if (validator === undefined) throw new Error('The source has no validator of order.paid.');
  return validator(input, '');
};

const validateSchema = new Ajv2020({ formats: fullFormats }).compile(schema);
const { components }: { components: { schemas: Record<string, object> } } = JSON.parse(
  JSON.stringify(asyncApiDocument({ names, payloads: commonFolder }, 'customer', [everyKind])),
);
const validateMessage = new Ajv({ strict: true, formats: fullFormats }).compile(
  components.schemas['OrderPaid20270601'] ?? false,
);
const producer = strict(body, 'body');

/** What each output says about the bodies of a folder of fixtures. */
const expectedResults: Readonly<Record<string, object>> = {
  accept: { jsonSchema: true, asyncApi: true, validator: true, zod: true, producer: true },
  reject: { jsonSchema: false, asyncApi: false, validator: false, zod: false, producer: false },
  'other-event': { jsonSchema: false, asyncApi: false, validator: false, zod: false, producer: false },
  'unknown-field': { jsonSchema: true, asyncApi: true, validator: true, zod: true, producer: false },
  'loose-time': { jsonSchema: true, asyncApi: true, validator: false, zod: false, producer: false },
};

test('every output accepts and rejects the derived fixtures', () => {
  const results = Array.from(fixtures, ([path, input]) => ({
    path,
    jsonSchema: validateSchema(input),
    asyncApi: validateMessage(input),
    validator: validate(input).ok,
    zod: body.safeParse(input).success,
    producer: producer.safeParse(input).success,
  }));
  expect(results).toEqual(results.map(({ path }) => ({ path, ...expectedResults[path.replace(/\/.*/, '')] })));
});

test('derives a fixture for each constraint of each kind', () => {
  const kinds = supportedKinds.map(({ code }, index) => {
    const own = [...fixtures.keys()].filter((path) => new RegExp(`field${index}(?:-|\\.json$)`).test(path));
    return [code, own.map((path) => path.replace(`data-field${index}`, '…').replace('.json', ''))];
  });
  expect(Object.fromEntries(kinds)).toMatchInlineSnapshot(`
    {
      "z.array(z.object({ sku: z.string().describe('What was ordered.'), quantity: z.int().min(1).describe('How many.') }))": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/null-in-…",
        "reject/wrong-type-in-…",
        "unknown-field/in-…",
        "reject/missing-…-sku",
        "reject/null-…-sku",
        "reject/wrong-type-…-sku",
        "reject/missing-…-quantity",
        "reject/null-…-quantity",
        "reject/wrong-type-…-quantity",
        "reject/too-small-…-quantity",
        "accept/smallest-…-quantity",
        "reject/fraction-…-quantity",
      ],
      "z.array(z.string()).min(1).max(3)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/too-few-…",
        "reject/too-many-…",
        "accept/fewest-…",
        "accept/most-…",
        "reject/null-in-…",
        "reject/wrong-type-in-…",
      ],
      "z.boolean()": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
      ],
      "z.boolean().nullable().optional()": [
        "accept/missing-…",
        "accept/null-…",
        "reject/wrong-type-…",
      ],
      "z.enum(['OPEN', 'PAID'])": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-value-…",
      ],
      "z.enum(['OPEN', 'PAID']).optional()": [
        "accept/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-value-…",
      ],
      "z.guid()": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-format-…",
      ],
      "z.int()": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/fraction-…",
      ],
      "z.int().min(0).max(100)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/too-small-…",
        "accept/smallest-…",
        "reject/too-large-…",
        "accept/largest-…",
        "reject/fraction-…",
      ],
      "z.iso.datetime({ precision: 3 })": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/impossible-day-…",
        "loose-time/with-offset-…",
        "loose-time/without-milliseconds-…",
      ],
      "z.literal('card')": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-value-…",
      ],
      "z.literal([10, 20])": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-value-…",
      ],
      "z.literal(true)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-value-…",
      ],
      "z.number().gt(0).lt(1.5)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/too-small-…",
        "reject/too-large-…",
      ],
      "z.object({ city: z.string().describe('Where.') })": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "unknown-field/in-…",
        "reject/missing-…-city",
        "reject/null-…-city",
        "reject/wrong-type-…-city",
      ],
      "z.string()": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
      ],
      "z.string().length(3)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/too-short-…",
        "reject/too-long-…",
        "accept/shortest-…",
        "accept/longest-…",
      ],
      "z.string().max(80).nullable()": [
        "reject/missing-…",
        "accept/null-…",
        "reject/wrong-type-…",
        "reject/too-long-…",
        "accept/longest-…",
      ],
      "z.string().min(1).max(80)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/too-short-…",
        "reject/too-long-…",
        "accept/shortest-…",
        "accept/longest-…",
      ],
      "z.string().regex(/^[A-Z]{2}-[0-9]+$/)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-pattern-…",
      ],
      "z.string().regex(/^[^/]+$/u).max(20)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-pattern-…",
        "reject/too-long-…",
      ],
      "z.string().regex(/^gid:\\/\\/[a-z][a-z0-9-]*\\/Order\\/[1-9][0-9]*$/)": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/gid-of-another-type-…",
      ],
      "z.uuid()": [
        "reject/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-format-…",
      ],
      "z.uuid().exactOptional()": [
        "accept/missing-…",
        "reject/null-…",
        "reject/wrong-type-…",
        "reject/other-format-…",
      ],
    }
  `);
});

test('the reference shows each kind', () => {
  const rows = payloadFields(schema).filter(({ path }) => path.startsWith('data.'));
  expect(
    rows.map(({ path, type, isNullable, isOptional }) =>
      [path, type, ...(isNullable ? ['null'] : []), ...(isOptional ? ['optional'] : [])].join(' | '),
    ),
  ).toMatchInlineSnapshot(`
    [
      "data.field0 | string",
      "data.field1 | string, 1 to 80 characters",
      "data.field2 | string, 3 characters",
      "data.field3 | string, matching \`^[A-Z]{2}-[0-9]+$\`",
      "data.field4 | string, matching \`^[^/]+$\`, at most 20 characters",
      "data.field5 | \`gid://<namespace>/Order/<number>\`",
      "data.field6 | string, uuid",
      "data.field7 | string, uuid",
      "data.field8 | string, date-time",
      "data.field9 | \`"OPEN"\` or \`"PAID"\`",
      "data.field10 | \`"card"\`",
      "data.field11 | \`10\` or \`20\`",
      "data.field12 | \`true\`",
      "data.field13 | boolean",
      "data.field14 | integer",
      "data.field15 | integer, 0 to 100",
      "data.field16 | number, above 0 and below 1.5",
      "data.field17 | array of string, 1 to 3 items",
      "data.field18 | array of object",
      "data.field18[*].sku | string",
      "data.field18[*].quantity | integer, at least 1",
      "data.field19 | object",
      "data.field19.city | string",
      "data.field20 | string, at most 80 characters | null",
      "data.field21 | \`"OPEN"\` or \`"PAID"\` | optional",
      "data.field22 | string, uuid | optional",
      "data.field23 | boolean | null | optional",
    ]
  `);
});

test('the type of each kind is what zod infers', async () => {
  const type = await typeOfSchema(typedSchema(body));
  expect(type.replaceAll(/ *\/\*\*.*?\*\/\n/gs, '')).toMatchInlineSnapshot(`
    "// Generated by \`pnpm generate\`. Do not edit.

    export interface OrderPaid {
      id: string;
      type: 'order.paid';
      version: '2027-06-01';
      timestamp: string;
      data: {
        field0: string;
        field1: string;
        field2: string;
        field3: string;
        field4: string;
        field5: string;
        field6: string;
        field7: string;
        field8: string;
        field9: 'OPEN' | 'PAID';
        field10: 'card';
        field11: 10 | 20;
        field12: true;
        field13: boolean;
        field14: number;
        field15: number;
        field16: number;
        field17: string[];
        field18: {
          sku: string;
          quantity: number;
        }[];
        field19: {
          city: string;
        };
        field20: string | null;
        field21?: ('OPEN' | 'PAID') | undefined;
        field22?: string;
        field23?: (boolean | null) | undefined;
      };
    }
    "
  `);
});

/** Values of a schema, some of them beside its limits. */
function valuesOf(kind: z.core.$ZodType): fc.Arbitrary<unknown> {
  if (kind instanceof z.ZodObject) {
    const fields = Object.entries(kind.shape).map(([name, field]) => [name, valuesOf(field)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
  }
  if (kind instanceof z.ZodNullable) return fc.oneof(fc.constant(null), valuesOf(kind.unwrap()));
  if (kind instanceof z.ZodOptional || kind instanceof z.ZodExactOptional) return valuesOf(kind.unwrap());
  if (kind instanceof z.ZodArray) return fc.array(valuesOf(kind.element), { maxLength: 5 });
  return anyScalar;
}

const anyScalar: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 1 }),
  fc.string({ unit: fc.constantFrom('a', '🏡', 'é', '\ud800', '/', '\n'), maxLength: 90 }),
  fc.constantFrom(
    'EUR',
    'AB-12',
    'ab-12',
    'AB-12\n',
    'OPEN',
    'PAID',
    'card',
    'gid://service/Order/7',
    'gid://service/Order/0',
  ),
  fc.constantFrom('2028-02-29T23:59:59.999Z', '2027-02-29T00:00:00.000Z', '2027-06-01T00:00:00Z', typical.timestamp),
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.stringMatching(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/),
  fc.integer({ min: -2, max: 103 }),
  fc.double({ min: -1, max: 3, noNaN: true }),
  fc.constantFrom(1e300, -1e300, 2 ** 53, 2 ** 53 - 1, 10, 20, 1.5, 0, true, false, null, '', {}, []),
);

/** The problems without what zod adds about a value that it has rejected already, such as the length of an array in place of a text. */
function withoutRepeated(problems: readonly string[]): string[] {
  const paths = problems.map((problem) => problem.replace(/:.*/s, ''));
  return problems.filter((_, index) => paths.indexOf(paths[index] ?? '') === index);
}

function problemsOf({ issues }: z.ZodError): string[] {
  return withoutRepeated(issues.map(({ path, message }) => `${path.join('.') || 'body'}: ${message}`));
}

test('the generated validator returns what the zod schema returns', () => {
  const members = Object.keys(typical.data);
  const counts = { accepted: 0, rejected: 0 };
  const changed = fc.oneof(
    ...members.map((name) =>
      fc.option(valuesOf(body.shape.data.shape[name] ?? z.string()), { freq: 12, nil: undefined }).map((value) => ({
        ...typical,
        data: { ...typical.data, [name]: value, addedLater: 1 },
      })),
    ),
    valuesOf(body),
    anyScalar,
  );
  fc.assert(
    fc.property(changed, (value) => {
      const input: unknown = JSON.parse(JSON.stringify(value));
      const [result, expected] = [validate(input), body.safeParse(input)];
      counts[expected.success ? 'accepted' : 'rejected'] += 1;
      deepStrictEqual(
        result.ok ? result : { ok: false, problems: withoutRepeated(result.problems) },
        expected.success ? { ok: true, value: expected.data } : { ok: false, problems: problemsOf(expected.error) },
      );
      // No published schema rejects what is sent.
      expect(!expected.success || (validateSchema(input) && validateMessage(input))).toBe(true);
    }),
    { numRuns: Number(process.env['RUNS'] ?? 2_000) },
  );
  expect(counts.accepted).toBeGreaterThan(100);
  expect(counts.rejected).toBeGreaterThan(100);
});
