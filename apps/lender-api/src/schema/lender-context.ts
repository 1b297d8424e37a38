import { createLenderReader, type LenderContext } from '@deedwire/firm/lender';
import { ownContext } from '@deedwire/graphql-server';

/** The reader that the operations of a process share. */
export const lenderContext = ownContext(({ store }): Pick<LenderContext, 'lenders'> => ({
  lenders: createLenderReader(store),
}));
