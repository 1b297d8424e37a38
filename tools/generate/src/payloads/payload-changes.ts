import { compareJsonSchemas, type SourceText } from '@deedwire/contract-check';
import { z } from 'zod';
import { payloadRules } from '../reference/event-page/payload-differences.ts';
import { publishedSchema } from './payload-schema.ts';

/** A change of a member of a payload. */
export interface PayloadChange {
  readonly what: string;
  readonly before: z.ZodObject;
  readonly now: z.ZodObject;
}

const amount = (before: z.ZodType, now: z.ZodType) => ({
  before: z.object({ amount: before }),
  now: z.object({ amount: now }),
});
const [text, integer] = [z.string(), z.int()];

/** The changes that `docs/payloads.md` lists. */
export const payloadChanges: readonly PayloadChange[] = [
  { what: 'a member is added', before: z.object({}), now: z.object({ amount: integer.optional() }) },
  { what: 'a member is removed', before: z.object({ amount: integer.optional() }), now: z.object({}) },
  { what: 'a member becomes optional', ...amount(integer, integer.optional()) },
  { what: 'an optional member becomes required', ...amount(integer.optional(), integer) },
  { what: 'a member becomes nullable', ...amount(integer, integer.nullable()) },
  { what: 'a nullable member is never null', ...amount(integer.nullable(), integer) },
  { what: 'an enum gets a value', ...amount(z.enum(['A']), z.enum(['A', 'B'])) },
  { what: 'an enum loses a value', ...amount(z.enum(['A', 'B']), z.enum(['A'])) },
  { what: 'an enum becomes any text', ...amount(z.enum(['A', 'B']), text) },
  { what: 'a text becomes an enum', ...amount(text, z.enum(['A', 'B'])) },
  { what: 'a literal becomes an enum', ...amount(z.literal('A'), z.enum(['A', 'B'])) },
  { what: 'a bound is added or tightened', ...amount(integer.max(5), integer.max(3)) },
  { what: 'a bound is loosened or removed', ...amount(integer.max(3), integer) },
  { what: 'a length is limited, or limited more', ...amount(text, text.max(3)) },
  { what: 'a limit of a length is loosened or removed', ...amount(text.max(3), text.max(5)) },
  { what: 'an array is limited, or limited more', ...amount(z.array(text), z.array(text).max(3)) },
  { what: 'a limit of an array is loosened or removed', ...amount(z.array(text).max(3), z.array(text)) },
  { what: 'a pattern is added', ...amount(text, text.regex(/^a$/)) },
  { what: 'a pattern is changed or removed', ...amount(text.regex(/^a$/), text.regex(/^b$/)) },
  { what: 'a text becomes a UUID', ...amount(text, z.uuid()) },
  { what: 'a UUID becomes any text', ...amount(z.uuid(), text) },
  { what: 'an integer becomes any number', ...amount(integer, z.number()) },
];

/** Whether a change breaks receivers, as the gate decides. */
export function isBreakingChange({ before, now }: Omit<PayloadChange, 'what'>): boolean {
  const { changes } = compareJsonSchemas(sourceOf(before), sourceOf(now), payloadRules);
  return changes.some(({ verdict }) => verdict === 'major');
}

function sourceOf(body: z.ZodObject): SourceText {
  return { file: 'payload.json', text: JSON.stringify(publishedSchema(body, 'payload.ts')) };
}
