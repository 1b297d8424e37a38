import type { Rule } from '../change.ts';
import { compareDocumented } from './compare-documented.ts';
import { compareInputs } from './compare-inputs.ts';
import { matchByName, type Comparison } from './comparison.ts';
import { printType, type FieldDefinition, type TypeDefinition } from './contract.ts';
import { graphqlRules } from './rules.ts';
import { relateTypes, type TypeRelation } from './type-relation.ts';

const typeRules: Readonly<Record<Exclude<TypeRelation, 'same'>, Rule>> = {
  wider: graphqlRules.outputWidened,
  narrower: graphqlRules.outputNarrowed,
  other: graphqlRules.outputTypeChanged,
};

/** Compares the fields of an object type or interface. */
export function compareFields(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  const { found } = comparison;
  matchByName(from.fields, to.fields, {
    removed({ name }) {
      found(graphqlRules.fieldRemoved, `${from.name}.${name}`, 'The field was removed.');
    },
    added({ name, type }) {
      found(graphqlRules.fieldAdded, `${from.name}.${name}`, `The field was added with the type ${printType(type)}.`);
    },
    kept(before, after) {
      compareField(comparison, `${from.name}.${before.name}`, before, after);
    },
  });
}

function compareField(comparison: Comparison, coordinate: string, from: FieldDefinition, to: FieldDefinition): void {
  const relation = relateTypes(from.type, to.type);
  if (relation !== 'same') {
    const message = `The type changed from ${printType(from.type)} to ${printType(to.type)}.`;
    comparison.found(typeRules[relation], coordinate, message);
  }
  compareInputs(comparison, 'argument', from.args, to.args, (name) => `${coordinate}(${name}:)`);
  compareDocumented(comparison, coordinate, from, to, 'output');
}
