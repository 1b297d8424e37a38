import type { EventSnapshots } from '@deedwire/actions';

export function render({ lender }: EventSnapshots['lender.updated']) {
  return { lenderId: lender.id, name: lender.name };
}
