{{#if isUpdate}}
import { withChanged } from '@deedwire/core';
import { {{camelCase type}} } from './event.ts';
{{else}}
import type { Snapshot } from './event.ts';
{{/if}}

// TODO: the fields of the payload, from the snapshot.
{{#if isUpdate}}
export const render = withChanged({{camelCase type}}, ({ todo }) => ({ todo }));
{{else}}
export function render({ todo }: Snapshot) {
  return { todo };
}
{{/if}}
