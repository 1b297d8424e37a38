import { defineEvent, type SnapshotOf } from '@deedwire/core';
import * as z from 'zod';
{{#if isUpdate}}
{{#if hasParts}}
import { changed } from '../parts.ts';
{{else}}

/** The paths of the values that the update replaced. */
const changed = z.array(z.string()).exactOptional();
{{/if}}
{{/if}}

// TODO: the record that the event is about, as `{ type: 'Order', id: ({ order: { id } }) => id }`; what the outbox stores (fields can be added later, and none changes); and `persons: ['todo']`, the values that identify a person, by their paths.{{#if isListed}} List all others in personal-data.test.ts.{{/if}}
export const {{camelCase type}} = defineEvent('{{type}}', {
  record: null,
  snapshot: z.object({ todo: z.string(){{#if isUpdate}}, changed{{/if}} }),
  sample: () => ({ todo: 'TODO'{{#if isUpdate}}, changed: ['todo']{{/if}} }),
});

export type Snapshot = SnapshotOf<typeof {{camelCase type}}>;
