import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { fragmentsOf, responseNameOf, visitFields } from '../operation/document-nodes.ts';

/**
 * Returns an upper bound of the bytes that `__schema` and `__type` add to the response of an operation, with their names.
 * The bound counts deprecated elements and ignores `@skip` and `@include`; apart from that it is exact. Infinity if it is
 * more than `maxBytes`, after work in proportion to `maxBytes`.
 *
 * @param document a valid document
 * @param operation the operation of the document that runs
 * @param variables only those that name a type are read
 */
export type IntrospectionBytes = (
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  maxBytes: number,
) => number;

/**
 * Measures introspection without executing it. `__schema` and `__type` count once for each of their positions, so no list
 * of the schema may lead to its query type.
 */
export function createIntrospectionBytes(schema: GraphQLSchema): IntrospectionBytes {
  const bytesOfLeaf = createLeafSizes();
  const resolve = createResolver(schema);

  return (document, operation, variables, maxBytes) => {
    const mergedOf = createMerger(document);
    const known = new Map<MergedFields, Map<unknown, number>>();
    /** The bytes of all objects that were measured. Each of them is in the response at least once. */
    let measured = 0;

    /** The size of an object with its braces. */
    function bytesOfObject(merged: MergedFields, type: GraphQLObjectType, source: unknown): number {
      const sizes = known.get(merged) ?? new Map<unknown, number>();
      known.set(merged, sizes);
      let bytes = sizes.get(source);
      if (bytes !== undefined) return bytes;
      bytes = merged.length === 0 ? 2 : 1; // each key counts a comma, and the last has none
      for (const mergedField of merged) {
        const { name, keyBytes } = mergedField;
        measured += keyBytes;
        if (measured > maxBytes) return Infinity;
        bytes += keyBytes;
        const field = type.getFields()[name];
        if (field) bytes += bytesOfValue(mergedField, field.type, resolve(type, name, source));
        else if (name === '__typename') bytes += bytesOfLeaf(type.name);
      }
      sizes.set(source, bytes);
      return bytes;
    }

    function bytesOfValue(field: MergedField, outputType: GraphQLOutputType, value: unknown): number {
      if (value === null || value === undefined) return 4;
      const type = getNullableType(outputType);
      if (isListType(type)) {
        const items: readonly unknown[] = Array.isArray(value) ? value : [];
        let bytes = items.length === 0 ? 2 : 1; // each item counts a comma, and the last has none
        for (const item of items) bytes += bytesOfValue(field, type.ofType, item) + 1;
        return bytes;
      }
      if (isObjectType(type)) return bytesOfObject(field.inner(), type, value);
      const bytes = bytesOfLeaf(value);
      measured += bytes;
      return bytes;
    }

    /** The size of the introspection fields in the selections of an object that is not part of introspection itself. */
    function bytesBelow(merged: MergedFields, type: GraphQLObjectType): number {
      let bytes = 0;
      for (const field of merged) {
        if (field.name === '__schema' && type === schema.getQueryType()) {
          bytes += field.keyBytes + bytesOfValue(field, SchemaMetaFieldDef.type, schema);
        } else if (field.name === '__type' && type === schema.getQueryType()) {
          const name = readName(field.node, operation, variables);
          const named = name === undefined ? null : schema.getType(name);
          bytes += field.keyBytes + bytesOfValue(field, TypeMetaFieldDef.type, named);
        } else if (field.node.selectionSet) {
          const inner = getNamedType(type.getFields()[field.name]?.type);
          if (isObjectType(inner)) bytes += bytesBelow(field.inner(), inner);
        }
      }
      return bytes;
    }

    const root = schema.getRootType(operation.operation);
    const bytes = root ? bytesBelow(mergedOf([operation.selectionSet]), root) : 0;
    return bytes > maxBytes ? Infinity : bytes;
  };
}

interface MergedField {
  name: string;
  /** The first of the fields with this response name. The others have the same name and arguments. */
  node: FieldNode;
  /** The response name with its quotes, a colon and a comma. */
  keyBytes: number;
  inner: () => MergedFields;
}

/** The fields that some selection sets select together, merged by response name. */
type MergedFields = readonly MergedField[];

/** Returns the same list for the same selection sets, so that fragments are measured once per object. */
function createMerger(document: DocumentNode): (selectionSets: readonly SelectionSetNode[]) => MergedFields {
  const fragments = fragmentsOf(document);
  const numbers = new Map<SelectionSetNode, number>();
  const lists = new Map<string, MergedFields>();

  function numberOf(selectionSet: SelectionSetNode): number {
    const number = numbers.get(selectionSet) ?? numbers.size;
    numbers.set(selectionSet, number);
    return number;
  }

  function mergedOf(selectionSets: readonly SelectionSetNode[]): MergedFields {
    const key = selectionSets.map(numberOf).join(' ');
    const known = lists.get(key);
    if (known) return known;
    const byResponseName = new Map<string, FieldNode[]>();
    visitFields(selectionSets, fragments, (field) => {
      const responseName = responseNameOf(field);
      const fields = byResponseName.get(responseName);
      if (fields) fields.push(field);
      else byResponseName.set(responseName, [field]);
    });

    const merged = [...byResponseName].flatMap(([responseName, nodes]) => {
      const [node] = nodes;
      if (!node) return [];
      const inner = () => mergedOf(nodes.flatMap(({ selectionSet }) => selectionSet ?? []));
      // Names have only ASCII characters.
      return [{ name: node.name.value, node, keyBytes: responseName.length + 4, inner }];
    });
    lists.set(key, merged);
    return merged;
  }
  return mergedOf;
}

/** The name of the type that a `__type` field reads. Undefined if it is a variable without a value. */
function readName(
  field: FieldNode,
  { variableDefinitions }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): string | undefined {
  let value: ValueNode | undefined = field.arguments?.find(({ name }) => name.value === 'name')?.value;
  if (value?.kind === Kind.VARIABLE) {
    const name = value.name.value;
    const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (typeof given === 'string') return given;
    value = variableDefinitions?.find(({ variable }) => variable.name.value === name)?.defaultValue;
  }
  return value?.kind === Kind.STRING ? value.value : undefined;
}

/** Resolves the fields of introspection with graphql's own resolvers, once per object. */
function createResolver(schema: GraphQLSchema) {
  const known = new Map<unknown, Map<string, unknown>>();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- graphql's introspection resolvers read nothing else
  const info = { schema } as GraphQLResolveInfo;

  return (type: GraphQLObjectType, name: string, source: unknown): unknown => {
    const values = known.get(source) ?? new Map<string, unknown>();
    known.set(source, values);
    if (!values.has(name)) {
      const resolve = type.getFields()[name]?.resolve;
      values.set(name, resolve?.(source, { includeDeprecated: true }, undefined, info));
    }
    return values.get(name);
  };
}

/** Measures strings, booleans and the values of enums, whose names they are. */
function createLeafSizes(): (value: unknown) => number {
  const sizes = new Map<unknown, number>();
  return (value) => {
    let bytes = sizes.get(value);
    if (bytes === undefined) {
      bytes = Buffer.byteLength(JSON.stringify(value));
      sizes.set(value, bytes);
    }
    return bytes;
  };
}
