import { createLenderReader, type LenderContext } from '@deedwire/actions';
import { ownContext } from '@deedwire/graphql-server';

/** The reader that the operations of a process share. */
export const lenderContext = ownContext(({ store }): Pick<LenderContext, 'lenders'> => ({
  lenders: createLenderReader(store),
}));
