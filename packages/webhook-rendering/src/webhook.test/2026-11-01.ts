import type { EventSnapshots } from '@deedwire/domain';

export function render({ message }: EventSnapshots['webhook.test']) {
  return { message };
}
