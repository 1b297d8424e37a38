import { GraphQLError, type ValidationRule } from 'graphql';
import { isStorable } from '../transport/parameters.ts';

/** The same for literals as for variables. */
export const StorableTextRule: ValidationRule = (context) => ({
  StringValue(node) {
    if (!isStorable(node.value)) context.reportError(new GraphQLError('A string holds U+0000.', { nodes: node }));
  },
});
