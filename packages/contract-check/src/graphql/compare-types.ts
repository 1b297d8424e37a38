import { compareMembers } from '../compare-members.ts';
import { onlyIn } from '../only-in.ts';
import { compareDocumented } from './compare-documented.ts';
import { compareFields } from './compare-fields.ts';
import { compareInputs } from './compare-inputs.ts';
import { withRules, type Comparison } from './comparison.ts';
import type { TypeDefinition, TypeKind } from './contract.ts';
import type { Position } from './exposure.ts';
import { graphqlRules } from './rules.ts';

const kindNames: Readonly<Record<TypeKind, string>> = {
  scalar: 'scalar',
  object: 'object type',
  interface: 'interface',
  union: 'union',
  enum: 'enum',
  input: 'input object',
};

export function compareTypes(comparison: Comparison): void {
  const { from, to, exposure, found } = comparison;
  compareMembers(from.types, to.types, {
    removed(name, { kind }) {
      const rule = exposure.positionOf(name) === null ? graphqlRules.unreachableBroken : graphqlRules.typeRemoved;
      found(rule, name, `The ${kindNames[kind]} was removed.`);
    },
    added(name, { kind, interfaces }) {
      found(graphqlRules.typeAdded, name, `The ${kindNames[kind]} was added.`);
      for (const interfaceName of interfaces) comparePossibleType(comparison, interfaceName, name);
    },
    kept(name, before, after) {
      const position = exposure.positionOf(name);
      if (position === null) compareType(ofUnreachable(comparison), before, after, 'both');
      else compareType(comparison, before, after, position);
    },
  });
}

/** Replaces the rule of every change that is larger than a patch, because no operation can reach the type. */
function ofUnreachable(comparison: Comparison): Comparison {
  return withRules(comparison, (rule) => {
    if (rule.verdict === 'patch') return rule;
    return rule.verdict === 'major' ? graphqlRules.unreachableBroken : graphqlRules.unreachableChanged;
  });
}

function compareType(comparison: Comparison, from: TypeDefinition, to: TypeDefinition, position: Position): void {
  const { found } = comparison;
  if (from.kind !== to.kind) {
    found(
      graphqlRules.typeKindChanged,
      from.name,
      `The kind changed from ${kindNames[from.kind]} to ${kindNames[to.kind]}.`,
    );
    return;
  }
  compareFields(comparison, from, to);
  compareInputs(comparison, 'field', from.inputFields, to.inputFields, (name) => `${from.name}.${name}`);
  compareInterfaces(comparison, from, to);
  compareUnion(comparison, from, to);
  compareValues(comparison, from, to, position);
  compareDocumented(comparison, from.name, from, to, position);
}

function compareInterfaces(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  for (const name of onlyIn(from.interfaces, to.interfaces))
    comparison.found(graphqlRules.interfaceAbandoned, from.name, `It no longer implements ${name}.`);
  for (const name of onlyIn(to.interfaces, from.interfaces)) {
    comparison.found(graphqlRules.interfaceImplemented, from.name, `It now implements ${name}.`);
    comparePossibleType(comparison, name, from.name);
  }
}

/** A new implementation of an interface is a new type in the responses of every field that returns the interface. */
function comparePossibleType(comparison: Comparison, interfaceName: string, typeName: string): void {
  if (!comparison.from.types.has(interfaceName) || !comparison.exposure.isReturned(interfaceName)) return;
  comparison.found(possibleTypeRule(comparison), interfaceName, `It can now be of type ${typeName}.`);
}

function compareUnion(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  for (const name of onlyIn(from.members, to.members))
    comparison.found(graphqlRules.unionMemberRemoved, from.name, `It can no longer be of type ${name}.`);
  for (const name of onlyIn(to.members, from.members))
    comparison.found(possibleTypeRule(comparison), from.name, `It can now be of type ${name}.`);
}

function possibleTypeRule({ closedOutputs }: Comparison) {
  return closedOutputs ? graphqlRules.possibleTypeAddedClosed : graphqlRules.possibleTypeAdded;
}

function compareValues(comparison: Comparison, from: TypeDefinition, to: TypeDefinition, position: Position): void {
  const { found } = comparison;
  compareMembers(from.values, to.values, {
    removed(name) {
      const rule = position === 'output' ? graphqlRules.enumValueRemovedOutput : graphqlRules.enumValueRemovedInput;
      found(rule, `${from.name}.${name}`, 'The value was removed.');
    },
    added: (name) => found(valueAddedRule(comparison, position), `${from.name}.${name}`, 'The value was added.'),
    kept: (name, before, after) => compareDocumented(comparison, `${from.name}.${name}`, before, after, position),
  });
}

function valueAddedRule({ closedOutputs }: Comparison, position: Position) {
  if (position === 'input') return graphqlRules.enumValueAddedInput;
  return closedOutputs ? graphqlRules.enumValueAddedClosed : graphqlRules.enumValueAddedOutput;
}
