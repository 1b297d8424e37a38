import { Kind, type InputValueDefinitionNode as Input } from 'graphql';
import type { Rule } from '../change.ts';
import { compareMembers, describeDifference } from '../differences.ts';
import { compareDocumented } from './compare-applied-directives.ts';
import type { Comparison } from './comparison.ts';
import {
  canonicalLiteral,
  isRequired,
  printType,
  relateTypes,
  type GraphqlContract,
  type TypeRelation,
} from './contract.ts';
import { graphqlRules } from './rules.ts';

const typeRules: Readonly<Record<Exclude<TypeRelation, 'same'>, Rule>> = {
  wider: graphqlRules.inputWidened,
  narrower: graphqlRules.inputNarrowed,
  other: graphqlRules.inputTypeChanged,
};

/** Compares the arguments of a field or directive, or the fields of an input object. */
export function compareInputs(
  comparison: Comparison,
  noun: 'argument' | 'field',
  from: ReadonlyMap<string, Input>,
  to: ReadonlyMap<string, Input>,
  coordinateOf: (name: string) => string,
): void {
  const { found } = comparison;
  compareMembers(from, to, {
    removed: (name) => found(graphqlRules.inputRemoved, coordinateOf(name), `The ${noun} was removed.`),
    added(name, input) {
      const rule = isRequired(input) ? graphqlRules.requiredInputAdded : graphqlRules.optionalInputAdded;
      found(rule, coordinateOf(name), `The ${noun} was added with the type ${printType(input.type)}.`);
    },
    kept: (name, before, after) => compareInput(comparison, coordinateOf(name), before, after),
  });
}

function compareInput(comparison: Comparison, coordinate: string, from: Input, to: Input): void {
  const relation = relateTypes(from.type, to.type);
  if (relation !== 'same') {
    const message = `The type changed from ${printType(from.type)} to ${printType(to.type)}.`;
    comparison.found(typeRules[relation], coordinate, message);
  }
  compareDefaults(comparison, coordinate, from, to);
  compareDocumented(comparison, coordinate, from, to, 'input');
}

function compareDefaults(comparison: Comparison, coordinate: string, from: Input, to: Input): void {
  const [before, after] = [printDefault(comparison.from, from), printDefault(comparison.to, to)];
  if (before === after || areCoercedAlike(comparison, from, to)) return;
  comparison.found(defaultRule(from, to), coordinate, describeDifference('The default', before, after));
}

/** Null if there is no default. The literal `null` is a default. */
function printDefault(contract: GraphqlContract, { type, defaultValue }: Input, isFilled = false): string | null {
  return defaultValue === undefined ? null : canonicalLiteral(contract, type, defaultValue, isFilled);
}

/** Whether both schemas coerce both defaults to the same value: `{}` is `{ a: 3 }` if 3 is the default of the field `a`. */
function areCoercedAlike(comparison: Comparison, from: Input, to: Input): boolean {
  return [comparison.from, comparison.to].every(
    (contract) => printDefault(contract, from, true) === printDefault(contract, to, true),
  );
}

function defaultRule(from: Input, to: Input): Rule {
  const [old, next] = [from.defaultValue ?? to.defaultValue, to.defaultValue ?? from.defaultValue];
  if (old?.kind === Kind.NULL && next?.kind === Kind.NULL) return graphqlRules.nullDefaultChanged;
  if (from.defaultValue === undefined)
    return isRequired(from) ? graphqlRules.defaultOfRequiredAdded : graphqlRules.defaultAdded;
  if (to.defaultValue !== undefined) return graphqlRules.defaultChanged;
  return isRequired(to) ? graphqlRules.defaultOfNonNullRemoved : graphqlRules.defaultRemoved;
}
