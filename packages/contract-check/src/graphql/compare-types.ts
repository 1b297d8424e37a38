import type { DirectiveDefinitionNode as Directive, FieldDefinitionNode as Field } from 'graphql';
import type { Rule } from '../change.ts';
import { compareMembers, onlyIn } from '../differences.ts';
import { compareDocumented } from './compare-applied-directives.ts';
import { compareInputs } from './compare-inputs.ts';
import { withRules, type Comparison } from './comparison.ts';
import { byName, isExecutable, printType, relateTypes, type TypeDefinition, type TypeRelation } from './contract.ts';
import type { Position } from './exposure.ts';
import { graphqlRules } from './rules.ts';

export function compareTypes(comparison: Comparison): void {
  const { from, to, exposure, found } = comparison;
  compareMembers(from.types, to.types, {
    removed(name, { kind }) {
      const rule = exposure.positionOf(name) === null ? graphqlRules.unreachableBroken : graphqlRules.typeRemoved;
      found(rule, name, `The ${kind} was removed.`);
    },
    added(name, { kind, interfaces }) {
      found(graphqlRules.typeAdded, name, `The ${kind} was added.`);
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
    found(graphqlRules.typeKindChanged, from.name, `The kind changed from ${from.kind} to ${to.kind}.`);
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

const typeRules: Readonly<Record<Exclude<TypeRelation, 'same' | 'narrower'>, Rule>> = {
  wider: graphqlRules.outputWidened,
  other: graphqlRules.outputTypeChanged,
};

/** Compares the fields of an object type or interface. */
function compareFields(comparison: Comparison, from: TypeDefinition, to: TypeDefinition): void {
  const { found } = comparison;
  compareMembers(from.fields, to.fields, {
    removed: (name) => found(graphqlRules.fieldRemoved, `${from.name}.${name}`, 'The field was removed.'),
    added: (name, { type }) =>
      found(graphqlRules.fieldAdded, `${from.name}.${name}`, `The field was added with the type ${printType(type)}.`),
    kept: (_, before, after) => compareField(comparison, from, before, after),
  });
}

function compareField(comparison: Comparison, type: TypeDefinition, from: Field, to: Field): void {
  const coordinate = `${type.name}.${from.name.value}`;
  const relation = relateTypes(from.type, to.type);
  const change = `The type changed from ${printType(from.type)} to ${printType(to.type)}`;
  if (relation === 'narrower') {
    const left = findNullable(comparison, type, from, to);
    if (left === null) comparison.found(graphqlRules.outputNarrowed, coordinate, `${change}.`);
    else comparison.found(graphqlRules.outputNarrowedUnevenly, coordinate, `${change}, but ${left}.`);
  } else if (relation !== 'same') comparison.found(typeRules[relation], coordinate, `${change}.`);
  compareArguments(comparison, coordinate, from, to);
  compareDocumented(comparison, coordinate, from, to, 'output');
}

function compareArguments(comparison: Comparison, coordinate: string, from: Field | Directive, to: Field | Directive) {
  const [before, after] = [byName(from.arguments), byName(to.arguments)];
  compareInputs(comparison, 'argument', before, after, (name) => `${coordinate}(${name}:)`);
}

/** A neighbour that was as nullable as the field before the change and is not after it, in words. Null if there is none. */
function findNullable({ to: contract, neighbours }: Comparison, type: TypeDefinition, from: Field, to: Field) {
  for (const { typeName, field } of neighbours(type, from)) {
    const after = contract.types.get(typeName)?.fields.get(field.name.value)?.type;
    if (after !== undefined && printType(after, '') !== printType(to.type, ''))
      return `that of ${typeName}.${field.name.value} is ${printType(after)}`;
  }
  return null;
}

export function compareDirectiveDefinitions(comparison: Comparison): void {
  const { found } = comparison;
  // No operation can apply the directive.
  const ofSdl = withRules(comparison, (rule) =>
    rule.verdict === 'major' ? graphqlRules.sdlDirectiveRestricted : rule,
  );
  compareMembers(comparison.from.directiveDefinitions, comparison.to.directiveDefinitions, {
    removed(name, directive) {
      const rule = isExecutable(directive) ? graphqlRules.directiveRemoved : graphqlRules.sdlDirectiveRestricted;
      found(rule, `@${name}`, 'The directive was removed.');
    },
    added: (name) => found(graphqlRules.directiveAdded, `@${name}`, 'The directive was added.'),
    kept: (_, before, after) => compareDefinition(isExecutable(before) ? comparison : ofSdl, before, after),
  });
}

function compareDefinition(comparison: Comparison, from: Directive, to: Directive): void {
  const { found } = comparison;
  const coordinate = `@${from.name.value}`;
  const [before, after] = [locationsOf(from), locationsOf(to)];
  for (const location of onlyIn(before, after))
    found(graphqlRules.directiveLocationRemoved, coordinate, `It may no longer be applied at ${location}.`);
  for (const location of onlyIn(after, before))
    found(graphqlRules.directiveLocationAdded, coordinate, `It may now be applied at ${location}.`);
  if (from.repeatable && !to.repeatable)
    found(graphqlRules.directiveRepeatableRemoved, coordinate, 'It is no longer repeatable.');
  if (!from.repeatable && to.repeatable)
    found(graphqlRules.directiveRepeatableAdded, coordinate, 'It is now repeatable.');
  compareArguments(comparison, coordinate, from, to);
  compareDocumented(comparison, coordinate, from, to, 'both');
}

function locationsOf({ locations }: Directive): Set<string> {
  return new Set(locations.map(({ value }) => value));
}
