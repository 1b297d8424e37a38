import { type DocumentNode, getOperationAST, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';
import { RequestError } from '../errors/request-error.ts';

/** The operation of a valid document that is to be run. @throws {RequestError} */
export function selectOperation(document: DocumentNode, operationName: string | null): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  if (!operation) {
    const message =
      operationName === null
        ? 'The document holds several operations: name one in "operationName".'
        : 'The document holds no operation with the name in "operationName".';
    throw new RequestError('GRAPHQL_VALIDATION_FAILED', { message });
  }
  if (operation.operation === 'mutation' && rootFields(document, operation).size > 1) {
    throw new RequestError('OPERATION_TOO_COMPLEX', { message: 'A mutation holds one root field.' });
  }
  return operation;
}

/** The response names of the root fields, whatever `@skip` and `@include` say. `__typename` does nothing and is left out. */
function rootFields(document: DocumentNode, operation: OperationDefinitionNode): Set<string> {
  const names = new Set<string>();
  const spread = new Set<string>();

  function collect({ selections }: SelectionSetNode): void {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        if (selection.name.value !== '__typename') names.add((selection.alias ?? selection.name).value);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        for (const definition of document.definitions) {
          const isIt = definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value;
          if (isIt) collect(definition.selectionSet);
        }
      }
    }
  }
  collect(operation.selectionSet);
  return names;
}
