import { withChanged } from '@deedwire/core';
import { lenderUpdated } from './event.ts';

export const render = withChanged(lenderUpdated, ({ lender }) => ({
  lenderId: lender.id,
  name: lender.name,
}));
