import type { DocumentNode, GraphQLSchema, ValidationRule } from 'graphql';
import { validateRules } from '../operation/read-document.ts';
import { present } from '../request-state.ts';
import type { RequestPlugin } from './request-plugin.ts';

/**
 * Parses and validates documents within limits. Both steps run once for a document, as long as the cache of its version keeps the
 * result. The rules that plugins add run for each operation, because they can depend on the context.
 */
export function useDocuments(): RequestPlugin {
  return {
    onParse({ context: { requestState: state }, setParseFn }) {
      setParseFn(present(state.version).documents.parse);
    },
    onValidate({ context: { requestState: state }, setValidationFn }) {
      const { validate } = present(state.version).documents;
      setValidationFn((schema: GraphQLSchema, document: DocumentNode, rules: readonly ValidationRule[] = []) => {
        const errors = validate(document);
        return errors.length > 0 ? errors : validateRules(schema, document, rules);
      });
    },
  };
}
