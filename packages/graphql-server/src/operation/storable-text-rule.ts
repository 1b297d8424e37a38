import { GraphQLError, type ValidationRule } from 'graphql';
import { isStorable } from '../transport/parameters.ts';

/** Applies to literals the check that `parseParameters` applies to variables. */
export const StorableTextRule: ValidationRule = (context) => ({
  StringValue(node) {
    if (!isStorable(node.value))
      context.reportError(new GraphQLError('A string contains U+0000. Remove it.', { nodes: node }));
  },
});
