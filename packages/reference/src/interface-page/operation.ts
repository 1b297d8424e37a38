import { getNamedType, isEnumType, isObjectType, type GraphQLField } from 'graphql';
import type { Example } from '../examples.ts';
import { anchor, code, codeBlock, jsonBlock, link, oneLine } from '../markdown.ts';
import { inputTable } from './input-table.ts';
import { typeLink } from './type-link.ts';

/** An anchor that no type has: `lender` and `Lender` are the same to GitHub. */
export function operationHeading({ kind, operation }: Example): string {
  return `${kind} ${operation}`;
}

type Field = GraphQLField<unknown, unknown>;

/** @throws Error when the answer of the example has not been recorded */
export function describeOperation(example: Example, field: Field): string[] {
  if (example.answer === null) {
    throw new Error(
      `${example.answerPath} is missing: run \`vitest run packages/contract-tests/test/examples.test.ts -u\``,
    );
  }
  const hasVariables = Object.keys(example.variables).length > 0;
  return [
    `### ${operationHeading(example)}`,
    oneLine(field.description ?? ''),
    inputTable('argument', field.args),
    `Returns ${typeLink(field.type)}.${refusals(field)}`,
    'Example:',
    codeBlock('graphql', example.document),
    hasVariables ? `with the variables\n\n${jsonBlock(example.variables)}` : '',
    'is answered with',
    jsonBlock(example.answer),
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
