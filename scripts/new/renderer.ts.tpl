import type { EventSnapshots } from '@deedwire/domain';

// TODO: the fields of the payload, from the snapshot.
export function render({ todo }: EventSnapshots['{{type}}']) {
  return { todo };
}
