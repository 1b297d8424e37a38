import type { EventSnapshots } from '@deedwire/domain';

export function render({ lender }: EventSnapshots['lender.updated']) {
  return { lenderId: lender.id, name: lender.name };
}
