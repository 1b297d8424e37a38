import { z } from 'zod';

/** Something that a payload can have. */
export interface SupportedKind {
  /** What the author of a contract writes. */
  readonly code: string;
  /** What the code means. A test compares them. */
  readonly schema: z.ZodType;
  readonly typical: unknown;
}

const line = z.object({
  sku: z.string().describe('What was ordered.'),
  quantity: z.int().min(1).describe('How many.'),
});

/** What a payload can have, as `docs/payloads.md` lists it. Tests take each of them through everything that is generated. */
export const supportedKinds: readonly SupportedKind[] = [
  { code: 'z.string()', schema: z.string(), typical: 'Zürich 🏡' },
  { code: 'z.string().min(1).max(80)', schema: z.string().min(1).max(80), typical: 'Zürich 🏡' },
  { code: 'z.string().length(3)', schema: z.string().length(3), typical: 'EUR' },
  { code: 'z.string().regex(/^[A-Z]{2}-[0-9]+$/)', schema: z.string().regex(/^[A-Z]{2}-[0-9]+$/), typical: 'AB-12' },
  {
    code: 'z.string().regex(/^[^/]+$/u).max(20)',
    schema: z
      .string()
      .regex(/^[^/]+$/u)
      .max(20),
    typical: 'Zürich 🏡',
  },
  {
    code: 'z.string().regex(/^gid:\\/\\/[a-z][a-z0-9-]*\\/Order\\/[1-9][0-9]*$/)',
    schema: z.string().regex(/^gid:\/\/[a-z][a-z0-9-]*\/Order\/[1-9][0-9]*$/),
    typical: 'gid://service/Order/7',
  },
  { code: 'z.uuid()', schema: z.uuid(), typical: '0198f3a6-4a3c-7d2e-9b1f-3c5d7e9f1a2b' },
  { code: 'z.guid()', schema: z.guid(), typical: '11111111-2222-3333-4444-555555555555' },
  {
    code: 'z.iso.datetime({ precision: 3 })',
    schema: z.iso.datetime({ precision: 3 }),
    typical: '2026-11-03T09:30:00.000Z',
  },
  { code: "z.enum(['OPEN', 'PAID'])", schema: z.enum(['OPEN', 'PAID']), typical: 'OPEN' },
  { code: "z.literal('card')", schema: z.literal('card'), typical: 'card' },
  { code: 'z.literal([10, 20])', schema: z.literal([10, 20]), typical: 10 },
  { code: 'z.literal(true)', schema: z.literal(true), typical: true },
  { code: 'z.boolean()', schema: z.boolean(), typical: true },
  { code: 'z.int()', schema: z.int(), typical: 4 },
  { code: 'z.int().min(0).max(100)', schema: z.int().min(0).max(100), typical: 4 },
  { code: 'z.number().gt(0).lt(1.5)', schema: z.number().gt(0).lt(1.5), typical: 0.25 },
  { code: 'z.array(z.string()).min(1).max(3)', schema: z.array(z.string()).min(1).max(3), typical: ['a', 'b'] },
  {
    code: "z.array(z.object({ sku: z.string().describe('What was ordered.'), quantity: z.int().min(1).describe('How many.') }))",
    schema: z.array(line),
    typical: [
      { sku: 'lamp', quantity: 2 },
      { sku: 'chair', quantity: 1 },
    ],
  },
  {
    code: "z.object({ city: z.string().describe('Where.') })",
    schema: z.object({ city: z.string().describe('Where.') }),
    typical: { city: 'Zürich' },
  },
  { code: 'z.string().max(80).nullable()', schema: z.string().max(80).nullable(), typical: 'Zürich 🏡' },
  { code: "z.enum(['OPEN', 'PAID']).optional()", schema: z.enum(['OPEN', 'PAID']).optional(), typical: 'PAID' },
  {
    code: 'z.uuid().exactOptional()',
    schema: z.uuid().exactOptional(),
    typical: '0198f3a6-4a3c-7d2e-9b1f-3c5d7e9f1a2b',
  },
  { code: 'z.boolean().nullable().optional()', schema: z.boolean().nullable().optional(), typical: false },
];
