import { fragmentsOf, responseNameOf, visitFields } from '@deedwire/operation-analysis';
import { type DocumentNode, getOperationAST, type OperationDefinitionNode } from 'graphql';
import { RequestError } from '../errors/request-error.ts';

/**
 * Selects the operation to run from a valid document.
 *
 * @throws {RequestError} if there is no such operation, or if it is a mutation with several root fields.
 */
export function selectOperation(document: DocumentNode, operationName: string | null): OperationDefinitionNode {
  const operation = findOperation(document, operationName);
  const rootFields = operation.operation === 'mutation' ? rootFieldsOf(document, operation).size : 0;
  if (rootFields > 1) {
    const message = `The mutation has ${rootFields} root fields; at most 1 is allowed. Send each in its own request.`;
    throw new RequestError('OPERATION_TOO_COMPLEX', { message });
  }
  return operation;
}

/** @throws {RequestError} if there is no such operation. */
export function findOperation(document: DocumentNode, operationName: string | null): OperationDefinitionNode {
  const operation = getOperationAST(document, operationName);
  if (operation) return operation;
  const message =
    operationName === null
      ? 'The document contains several operations. Name one of them in "operationName".'
      : 'The document contains no operation with the name in "operationName". Name one of its operations, or omit "operationName" if it contains only one.';
  throw new RequestError('GRAPHQL_VALIDATION_FAILED', { message });
}

/** The response names of the root fields. Ignores `@skip` and `@include`. Omits `__typename`, which changes nothing. */
function rootFieldsOf(document: DocumentNode, operation: OperationDefinitionNode): Set<string> {
  const names = new Set<string>();
  visitFields([operation.selectionSet], fragmentsOf(document), (field) => {
    if (field.name.value !== '__typename') names.add(responseNameOf(field));
  });
  return names;
}
