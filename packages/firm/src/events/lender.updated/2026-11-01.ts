import { withChanged } from '@deedwire/domain';
import type { Snapshot } from './event.ts';

export const render = withChanged(({ lender }: Snapshot) => ({
  lenderId: lender.id,
  name: lender.name,
}));
