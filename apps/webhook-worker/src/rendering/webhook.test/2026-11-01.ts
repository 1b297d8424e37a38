import type { EventSnapshots } from '@deedwire/actions';

export function render({ message }: EventSnapshots['webhook.test']) {
  return { message };
}
