import { expect, test } from 'vitest';
import { z } from 'zod';
import { presence } from './event-page.ts';

const line = z.object({ sku: z.string(), note: z.string().exactOptional() });
const body = z.object({
  data: z.object({
    note: z.string().optional(),
    changed: z.string().nullable().exactOptional(),
    lines: z.array(line).nullable().optional(),
  }),
});

const field = { type: 'string', isNullable: false, description: 'A text.' };
const always = { ...field, path: 'data.id', isOptional: false, isAddedLater: false };
const at = (path: string, isAddedLater: boolean) => ({ ...field, path, isOptional: true, isAddedLater });

test('says which fields can be absent, and which ones older bodies lack', () => {
  expect(presence([always], body)).toBe('Every field is always present.');
  expect(presence([always, at('data.note', false)], body)).toBe(
    'Every field is always present, except that `data.note` can be absent.',
  );
  const added = [at('data.changed', true), at('data.lines[*].note', true)];
  expect(presence(added, body)).toBe(
    'Every field is always present, except that bodies from before `data.changed` and `data.lines[*].note` were added lack them.',
  );
  expect(presence([at('data.note', true), at('data.lines', false), ...added], body)).toBe(
    'Every field is always present, except that `data.note` and `data.lines` can be absent, and bodies from before `data.changed` and `data.lines[*].note` were added lack them.',
  );
  expect(presence([at('data.changed', false)], body)).toBe(
    'Every field is always present, except that `data.changed` can be absent.',
  );
});
