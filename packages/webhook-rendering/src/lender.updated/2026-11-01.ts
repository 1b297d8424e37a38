import type { EventSnapshots } from '@deedwire/domain';
import { withChanged } from '../with-changed.ts';

export const render = withChanged(({ lender }: EventSnapshots['lender.updated']) => ({
  lenderId: lender.id,
  name: lender.name,
}));
