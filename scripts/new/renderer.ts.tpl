import type { EventSnapshots } from '@deedwire/domain';
{{#if isUpdate}}
import { withChanged } from '../with-changed.ts';

// TODO: the fields of the payload, from the snapshot.
export const render = withChanged(({ todo }: EventSnapshots['{{type}}']) => ({ todo }));
{{else}}

// TODO: the fields of the payload, from the snapshot.
export function render({ todo }: EventSnapshots['{{type}}']) {
  return { todo };
}
{{/if}}
