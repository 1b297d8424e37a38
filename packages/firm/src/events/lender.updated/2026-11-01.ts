import { withChanged } from '@deedwire/domain';
import { lenderUpdated } from './event.ts';

export const render = withChanged(lenderUpdated, ({ lender }) => ({
  lenderId: lender.id,
  name: lender.name,
}));
