import type { Rule } from '../change.ts';
import { compareMembers } from '../compare-members.ts';
import { compareDocumented } from './compare-documented.ts';
import { compareInputs } from './compare-inputs.ts';
import type { Comparison } from './comparison.ts';
import { printType, type FieldDefinition, type TypeDefinition } from './contract.ts';
import { graphqlRules } from './rules.ts';
import { relateTypes, type TypeRelation } from './type-relation.ts';

const typeRules: Readonly<Record<Exclude<TypeRelation, 'same' | 'narrower'>, Rule>> = {
  wider: graphqlRules.outputWidened,
  other: graphqlRules.outputTypeChanged,
};

/** Compares the fields of an object type or interface. */
export function compareFields(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  const { found } = comparison;
  compareMembers(from.fields, to.fields, {
    removed: (name) => found(graphqlRules.fieldRemoved, `${from.name}.${name}`, 'The field was removed.'),
    added: (name, { type }) =>
      found(graphqlRules.fieldAdded, `${from.name}.${name}`, `The field was added with the type ${printType(type)}.`),
    kept: (_, before, after) => compareField(comparison, from, before, after),
  });
}

function compareField(comparison: Comparison, type: TypeDefinition, from: FieldDefinition, to: FieldDefinition): void {
  const coordinate = `${type.name}.${from.name}`;
  const relation = relateTypes(from.type, to.type);
  const change = `The type changed from ${printType(from.type)} to ${printType(to.type)}`;
  if (relation === 'narrower') {
    const left = findNullable(comparison, type, from, to);
    if (left === null) comparison.found(graphqlRules.outputNarrowed, coordinate, `${change}.`);
    else comparison.found(graphqlRules.outputNarrowedUnevenly, coordinate, `${change}, but ${left}.`);
  } else if (relation !== 'same') comparison.found(typeRules[relation], coordinate, `${change}.`);
  compareInputs(comparison, 'argument', from.args, to.args, (name) => `${coordinate}(${name}:)`);
  compareDocumented(comparison, coordinate, from, to, 'output');
}

/** A neighbour that was as nullable as the field before the change and is not after it, in words. Null if there is none. */
function findNullable(
  { to: contract, neighbours }: Comparison,
  type: TypeDefinition,
  from: FieldDefinition,
  to: FieldDefinition,
): string | null {
  for (const { typeName, field } of neighbours(type, from)) {
    const after = contract.types.get(typeName)?.fields.get(field.name)?.type;
    if (after !== undefined && printType(after, '') !== printType(to.type, '')) {
      return `that of ${typeName}.${field.name} is ${printType(after)}`;
    }
  }
  return null;
}
