import {
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  introspectionTypes,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isSpecifiedScalarType,
  isUnionType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';

/** Returns a number from 0 to `below` - 1. */
export type Choose = (below: number) => number;

export interface RandomDocumentOptions {
  /** How deep fields nest. */
  depth: number;
  /** The most selections of one selection set. */
  width: number;
  /** The most fragments. */
  fragments: number;
  /** Gives each field with arguments its own alias, so that no fields conflict. */
  hasUniqueAliases?: boolean;
  /** If there are several, they are named Q0, Q1 and so on, and each declares all variables. Default 1. */
  operations?: number;
  /** Gives some variables a default value. */
  hasDefaults?: boolean;
  /** Writes mutations instead of queries. */
  isMutation?: boolean;
}

const few = ['a', 'b'];

/**
 * Writes a document that is mostly valid: fields, aliases from a small set (so that some of them conflict), arguments, variables,
 * directives, inline fragments and fragments that spread later fragments.
 */
export function writeRandomDocument(schema: GraphQLSchema, choose: Choose, options: RandomDocumentOptions): string {
  const query = schema.getQueryType();
  const root = options.isMutation ? schema.getMutationType() : query;
  if (!root) throw new Error('The schema has no such root type.');
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[choose(items.length)];
    if (item === undefined) throw new Error('There is nothing to pick from.');
    return item;
  };
  const oneIn = (count: number) => choose(count) === 0;
  const composites = [
    ...introspectionTypes,
    ...Object.values(schema.getTypeMap()).filter((type) => !type.name.startsWith('__')),
  ].filter(isCompositeType);
  const fragments = Array.from({ length: choose(options.fragments + 1) }, () => pick(composites));
  const variables = new Map<string, GraphQLInputType>();
  let aliases = 0;

  function value(type: GraphQLInputType, mayBeVariable: boolean): string {
    if (mayBeVariable && oneIn(6)) {
      const known = [...variables].find(([, declared]) => String(declared) === String(type));
      const name = known?.[0] ?? `v${variables.size}`;
      variables.set(name, type);
      return `$${name}`;
    }
    const nullable = getNullableType(type);
    if (!isNonNullType(type) && oneIn(10)) return 'null';
    if (isListType(nullable)) {
      return `[${Array.from({ length: choose(3) }, () => value(nullable.ofType, mayBeVariable)).join(' ')}]`;
    }
    if (isInputObjectType(nullable))
      return `{${members(Object.values(nullable.getFields()), mayBeVariable).join(' ')}}`;
    if (isEnumType(nullable)) return pick(nullable.getValues()).name;
    // A custom scalar accepts any literal, with variables of any type in it.
    if (!isSpecifiedScalarType(nullable) && oneIn(3))
      return `{a:${value(nullable, mayBeVariable)} b:[1 ${value(booleanOf(schema), mayBeVariable)}]}`;
    const literals: Record<string, readonly string[]> = {
      Int: ['1', '2'],
      Float: ['1', '1.0', '2'],
      Boolean: ['true', 'false'],
      ID: ['1', '"1"'],
    };
    return pick(literals[nullable.name] ?? ['"x"', '"""x"""', '"y"', '"User"']);
  }

  function members(list: readonly Pick<GraphQLArgument, 'name' | 'type' | 'defaultValue'>[], mayBeVariable: boolean) {
    const given = list.filter((item) => (isNonNullType(item.type) ? true : oneIn(3)));
    if (oneIn(2)) given.reverse();
    return given.map((item) => `${item.name}:${value(item.type, mayBeVariable)}`);
  }

  function selectionSet(type: GraphQLNamedType, depth: number, fromFragment: number): string {
    const count = 1 + choose(options.width);
    return `{${Array.from({ length: count }, () => selection(type, depth, fromFragment)).join(' ')}}`;
  }

  function uniqueAlias(given: readonly string[]): string {
    if (given.length === 0 && !oneIn(6)) return '';
    aliases += 1;
    return `x${aliases}:`;
  }

  function fieldsOf(type: GraphQLNamedType) {
    const own = 'getFields' in type && !isInputObjectType(type) ? Object.values(type.getFields()) : [];
    return type === query ? [...own, SchemaMetaFieldDef, TypeMetaFieldDef] : own;
  }

  /** @param fromFragment the first fragment that may be spread */
  function selection(type: GraphQLNamedType, depth: number, fromFragment: number): string {
    const directive = oneIn(12) ? `${pick([' @skip', ' @include'])}(if:${value(booleanOf(schema), true)})` : '';
    const spreadable = fragments.flatMap((condition, index) =>
      index >= fromFragment && (overlaps(schema, condition, type) || oneIn(40)) ? [index] : [],
    );
    if (spreadable.length > 0 && oneIn(3)) return `...F${pick(spreadable)}${directive}`;
    if (oneIn(6) && depth > 0) {
      const conditions = composites.filter((condition) => overlaps(schema, condition, type));
      const condition = oneIn(3) || conditions.length === 0 ? type : pick(conditions);
      const written = condition === type && oneIn(2) ? '' : ` on ${condition.name}`;
      return `...${written}${directive}${selectionSet(condition, depth - 1, fromFragment)}`;
    }
    const candidates = fieldsOf(type).filter((field) => depth > 0 || !isCompositeType(getNamedType(field.type)));
    if (candidates.length === 0 || isUnionType(type) || oneIn(10)) return `__typename${directive}`;
    const field = pick(candidates);
    const named = getNamedType(field.type);
    const given = members(field.args, true);
    const alias = options.hasUniqueAliases
      ? uniqueAlias(given)
      : oneIn(6)
        ? `${pick([...few, pick(candidates).name])}:`
        : '';
    const inner = isCompositeType(named) ? selectionSet(named, depth - 1, fromFragment) : '';
    return `${alias}${field.name}${given.length > 0 ? `(${given.join(' ')})` : ''}${directive}${inner}`;
  }

  const { operations = 1 } = options;
  const bodies = Array.from({ length: operations }, () => selectionSet(root, options.depth, 0));
  let spreads = bodies.join(' ');
  let definitions = '';
  for (const [index, type] of fragments.entries()) {
    if (!new RegExp(String.raw`\.\.\.F${index}\b`).test(spreads)) continue;
    const definition = `\nfragment F${index} on ${type.name}${selectionSet(type, options.depth - 1, index + 1)}`;
    definitions += definition;
    spreads += definition;
  }
  const declared = [...variables].map(([name, type]) => {
    const hasDefault = options.hasDefaults === true && oneIn(3);
    return `$${name}:${String(type)}${hasDefault ? `=${value(type, false)}` : ''}`;
  });
  const head = declared.length > 0 ? `(${declared.join(' ')})` : '';
  const kind = options.isMutation ? 'mutation' : 'query';
  return (
    bodies.map((body, index) => `${kind}${operations > 1 ? ` Q${index}` : ''}${head}${body}`).join('\n') + definitions
  );
}

function booleanOf(schema: GraphQLSchema): GraphQLInputType {
  const type = schema.getDirective('skip')?.args[0]?.type;
  if (!type) throw new Error('The schema does not define @skip.');
  return type;
}

function overlaps(schema: GraphQLSchema, condition: GraphQLCompositeType, type: GraphQLNamedType): boolean {
  if (condition === type) return true;
  if (!isCompositeType(type)) return false;
  const possible = (of: GraphQLCompositeType) => (isAbstractType(of) ? schema.getPossibleTypes(of) : [of]);
  const others = possible(type);
  return possible(condition).some((object) => others.includes(object));
}
