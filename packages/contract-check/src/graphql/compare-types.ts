import { compareDocumented } from './compare-documented.ts';
import { compareFields } from './compare-fields.ts';
import { compareInputs } from './compare-inputs.ts';
import { matchByName, type Comparison } from './comparison.ts';
import type { TypeDefinition } from './contract.ts';
import type { Position } from './exposure.ts';
import { graphqlRules } from './rules.ts';

export function compareTypes(comparison: Comparison): void {
  const { from, to, exposure, found } = comparison;
  matchByName(from.types, to.types, {
    removed({ name, kind }) {
      const rule = exposure.positionOf(name) === null ? graphqlRules.unreachableChanged : graphqlRules.typeRemoved;
      found(rule, name, `The ${kind} was removed.`);
    },
    added(type) {
      found(graphqlRules.typeAdded, type.name, `The ${type.kind} was added.`);
      for (const interfaceName of type.interfaces) comparePossibleType(comparison, interfaceName, type.name);
    },
    kept(before, after) {
      const position = exposure.positionOf(before.name);
      if (position === null) compareType(ofUnreachable(comparison), before, after, 'both');
      else compareType(comparison, before, after, position);
    },
  });
}

/** What is wrong with a type that nobody could reach is the same small thing, whatever it is. */
function ofUnreachable(comparison: Comparison): Comparison {
  return {
    ...comparison,
    found(rule, coordinate, message) {
      comparison.found(rule.verdict === 'patch' ? rule : graphqlRules.unreachableChanged, coordinate, message);
    },
  };
}

function compareType(comparison: Comparison, from: TypeDefinition, to: TypeDefinition, position: Position): void {
  const { found } = comparison;
  if (from.kind !== to.kind) {
    found(graphqlRules.typeKindChanged, from.name, `It was of kind ${from.kind}, is of kind ${to.kind}.`);
    return;
  }
  compareFields(comparison, from, to);
  compareInputs(comparison, from.inputFields, to.inputFields, (name) => `${from.name}.${name}`);
  compareInterfaces(comparison, from, to);
  compareMembers(comparison, from, to);
  compareValues(comparison, from, to, position);
  compareDocumented(comparison, from.name, from, to, position);
}

function compareInterfaces(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  for (const name of from.interfaces) {
    if (to.interfaces.has(name)) continue;
    comparison.found(graphqlRules.interfaceAbandoned, from.name, `It does not implement ${name} any more.`);
  }
  for (const name of to.interfaces) {
    if (from.interfaces.has(name)) continue;
    comparison.found(graphqlRules.interfaceImplemented, from.name, `It implements ${name}.`);
    comparePossibleType(comparison, name, from.name);
  }
}

/** A type that newly implements an interface is a new answer wherever that interface was returned. */
function comparePossibleType(comparison: Comparison, interfaceName: string, typeName: string): void {
  if (!comparison.from.types.has(interfaceName) || !comparison.exposure.isReturned(interfaceName)) return;
  comparison.found(possibleTypeRule(comparison), interfaceName, `It can be ${typeName} too.`);
}

function compareMembers(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  for (const name of from.members) {
    if (!to.members.has(name))
      comparison.found(graphqlRules.unionMemberRemoved, from.name, `It cannot be ${name} any more.`);
  }
  for (const name of to.members) {
    if (!from.members.has(name)) comparison.found(possibleTypeRule(comparison), from.name, `It can be ${name} too.`);
  }
}

function possibleTypeRule({ closedOutputs }: Comparison) {
  return closedOutputs ? graphqlRules.possibleTypeAddedClosed : graphqlRules.possibleTypeAdded;
}

function compareValues(comparison: Comparison, from: TypeDefinition, to: TypeDefinition, position: Position): void {
  const { found } = comparison;
  matchByName(from.values, to.values, {
    removed({ name }) {
      const rule = position === 'output' ? graphqlRules.enumValueRemovedOutput : graphqlRules.enumValueRemovedInput;
      found(rule, `${from.name}.${name}`, 'The value was removed.');
    },
    added({ name }) {
      found(valueAddedRule(comparison, position), `${from.name}.${name}`, 'The value was added.');
    },
    kept(before, after) {
      compareDocumented(comparison, `${from.name}.${before.name}`, before, after, position);
    },
  });
}

function valueAddedRule({ closedOutputs }: Comparison, position: Position) {
  if (position === 'input') return graphqlRules.enumValueAddedInput;
  return closedOutputs ? graphqlRules.enumValueAddedClosed : graphqlRules.enumValueAddedOutput;
}
