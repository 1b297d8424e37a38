{{#if isUpdate}}
import { withChanged } from '@deedwire/domain';
{{/if}}
import type { Snapshot } from './event.ts';

// TODO: the fields of the payload, from the snapshot.
{{#if isUpdate}}
export const render = withChanged(({ todo }: Snapshot) => ({ todo }));
{{else}}
export function render({ todo }: Snapshot) {
  return { todo };
}
{{/if}}
