import { abilities, type Ability } from '@deedwire/core';
import { fragmentsOf } from '@deedwire/operation-analysis';
import {
  type DocumentNode,
  type ExecutableDefinitionNode,
  type GraphQLSchema,
  isAbstractType,
  isObjectType,
  type OperationDefinitionNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** By coordinate: what a key or a session must have to use a field. A field without an entry needs nothing. */
export type AbilityTable = Readonly<Record<string, readonly string[]>>;

/** Describes the faults of a table: each field of a root type has an entry, and each entry has a field and abilities that exist. */
export function findAbilityProblems(schema: GraphQLSchema, table: AbilityTable): string[] {
  const problems: string[] = [];
  for (const [coordinate, needed] of Object.entries(table)) {
    const [typeName = '', field = '', ...more] = coordinate.split('.');
    const type = schema.getType(typeName);
    if (!isObjectType(type) || !Object.hasOwn(type.getFields(), field) || more.length > 0)
      problems.push(`there is an ability for ${coordinate}, which is no field of an object type`);
    const unknown = needed.filter((ability) => !isAbility(ability));
    if (unknown.length > 0 || needed.length === 0)
      problems.push(
        `${coordinate} needs abilities out of ${abilities.join(', ')}, not ${unknown.join(', ') || 'none'}`,
      );
  }
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.keys(root?.getFields() ?? {})) {
      const coordinate = `${root?.name}.${field}`;
      if (!Object.hasOwn(table, coordinate)) problems.push(`${coordinate} has no ability`);
    }
  }
  return problems;
}

/**
 * Finds the abilities that an operation needs, besides `READ`, once for each operation of a cached document: of all fields that it and
 * its fragments contain, whatever `@include` and `@skip` say. A field of an interface needs what it needs in any of its types.
 *
 * @param table without problems
 */
export function createNeededAbilities(schema: GraphQLSchema, table: AbilityTable) {
  // A plugin can supply an operation of another document with other fragments.
  const known = new WeakMap<DocumentNode, Map<OperationDefinitionNode, readonly Ability[]>>();

  function find(document: DocumentNode, operation: OperationDefinitionNode): Ability[] {
    const found = new Set<string>();
    const types = new TypeInfo(schema);
    const fragments = fragmentsOf(document);
    const definitions = new Set<ExecutableDefinitionNode>([operation]);
    // Those that are added meanwhile follow.
    for (const definition of definitions) {
      visit(
        definition,
        visitWithTypeInfo(types, {
          Field({ name }) {
            const parent = types.getParentType();
            const owners = isAbstractType(parent) ? schema.getPossibleTypes(parent) : [parent];
            for (const owner of owners) table[`${owner?.name}.${name.value}`]?.forEach((ability) => found.add(ability));
          },
          FragmentSpread({ name }) {
            const fragment = fragments.get(name.value);
            if (fragment) definitions.add(fragment);
          },
        }),
      );
    }
    return abilities.filter((ability) => ability !== 'READ' && found.has(ability));
  }

  return (document: DocumentNode, operation: OperationDefinitionNode): readonly Ability[] => {
    const ofDocument = known.get(document) ?? new Map<OperationDefinitionNode, readonly Ability[]>();
    const needed = ofDocument.get(operation) ?? find(document, operation);
    known.set(document, ofDocument.set(operation, needed));
    return needed;
  };
}

export type NeededAbilities = ReturnType<typeof createNeededAbilities>;

function isAbility(text: string): boolean {
  return abilities.some((ability) => ability === text);
}
