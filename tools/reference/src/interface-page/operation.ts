import { getNamedType, isEnumType, isObjectType, type GraphQLField } from 'graphql';
import type { Example, Exchange } from '../examples.ts';
import { anchor, code, codeBlock, jsonBlock, link, oneLine } from '../markdown.ts';
import { inputTable } from './input-table.ts';
import { typeLink } from './type-link.ts';

/** An anchor that no type has: `lender` and `Lender` are the same to GitHub. */
export function operationHeading({ kind, operation }: Example): string {
  return `${kind} ${operation}`;
}

type Field = GraphQLField<unknown, unknown>;

export function describeOperation(example: Example, field: Field): string[] {
  return [
    `### ${operationHeading(example)}`,
    oneLine(field.description ?? ''),
    inputTable('argument', field.args),
    `Returns ${typeLink(field.type)}.${refusals(field)}`,
    'Example:',
    codeBlock('graphql', example.document),
    ...example.exchanges.flatMap(describeExchange),
  ];
}

/** @throws Error when the answer has not been recorded */
function describeExchange({ outcome, variables, answerPath, answer }: Exchange): string[] {
  if (answer === null) {
    throw new Error(`${answerPath} is missing: run \`vitest run tools/contract-tests/test/examples.test.ts -u\``);
  }
  return [
    ...(Object.keys(variables).length > 0 ? ['with the variables', jsonBlock(variables)] : []),
    outcome === 'success' ? 'is answered with' : 'is refused with',
    jsonBlock(answer),
  ];
}

/** The codes of the payload's user errors. */
function refusals(field: Field): string {
  const payload = getNamedType(field.type);
  const errors = isObjectType(payload) ? payload.getFields()['userErrors'] : undefined;
  const error = errors && getNamedType(errors.type);
  const codes = isObjectType(error) ? getNamedType(error.getFields()['code']?.type) : undefined;
  if (!isEnumType(codes)) return '';
  const values = codes.getValues().map(({ name }) => code(name));
  return ` It refuses with ${values.join(', ')}: ${link('what they mean', anchor(codes.name))}.`;
}
