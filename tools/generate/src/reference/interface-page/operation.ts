import { getNamedType, type GraphQLField, isEnumType, isObjectType } from 'graphql';
import type { Example, Exchange } from '../examples.ts';
import { anchor, code, codeBlock, jsonBlock, link, oneLine } from '../markdown.ts';
import { inputTable, typeLink } from './type.ts';

/** The kind keeps the anchor different from that of a type: GitHub gives `order` and `Order` the same anchor. */
export function operationHeading({ kind, operation }: Example): string {
  return `${kind} ${operation}`;
}

type Field = GraphQLField<unknown, unknown>;

export function describeOperation(example: Example, field: Field): string[] {
  return [
    `### ${operationHeading(example)}`,
    oneLine(field.description ?? ''),
    inputTable('argument', field.args),
    `Returns ${typeLink(field.type)}.${userErrorCodes(field)}`,
    'Example:',
    codeBlock('graphql', example.document),
    ...example.exchanges.flatMap(describeExchange),
  ];
}

/** @throws {Error} if the response has not been recorded */
export function describeExchange({ result, variables, responsePath, response }: Exchange): string[] {
  if (response === null) {
    throw new Error(`${responsePath} is missing: run \`vitest run --project integration /examples.test.ts -u\``);
  }
  return [
    ...(Object.keys(variables).length > 0 ? ['Variables:', jsonBlock(variables)] : []),
    result === 'success' ? 'Response:' : 'Response with user errors:',
    jsonBlock(response),
  ];
}

/** A sentence about the user error codes of the payload. Empty if the operation has no user errors. */
function userErrorCodes(field: Field): string {
  const payload = getNamedType(field.type);
  const errors = isObjectType(payload) ? payload.getFields()['userErrors'] : undefined;
  const error = errors && getNamedType(errors.type);
  const codes = isObjectType(error) ? getNamedType(error.getFields()['code']?.type) : undefined;
  if (!isEnumType(codes)) return '';
  const values = codes.getValues().map(({ name }) => code(name));
  return ` User error codes (${link('details', anchor(codes.name))}): ${values.join(', ')}.`;
}
