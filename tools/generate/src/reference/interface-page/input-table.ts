import { print, type GraphQLArgument, type GraphQLInputField } from 'graphql';
import { code, table } from '../markdown.ts';
import { described } from './described.ts';
import { typeLink } from './type-link.ts';

type InputValue = GraphQLArgument | GraphQLInputField;

/** The arguments of a field or the fields of an input type. Empty if there are none. */
export function inputTable(noun: 'argument' | 'field', values: readonly InputValue[]): string {
  if (values.length === 0) return '';
  const hasDefaults = values.some((value) => defaultOf(value) !== '');
  return table(
    [noun, 'type', ...(hasDefaults ? ['default'] : []), 'description'],
    values.map((value) => [
      code(value.name),
      typeLink(value.type),
      ...(hasDefaults ? [defaultOf(value)] : []),
      described(value),
    ]),
  );
}

function defaultOf({ astNode }: InputValue): string {
  return astNode?.defaultValue === undefined ? '' : code(print(astNode.defaultValue));
}
