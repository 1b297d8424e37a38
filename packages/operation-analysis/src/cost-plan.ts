import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
  visit,
} from 'graphql';
import type { CostTable } from './cost-table.ts';
import { conditionOf, conditionVariablesOf, fragmentsOf, responseNameOf, visitFields } from './document-nodes.ts';
import { costOfAlias, defaultWeights, type MilliPoints, toMilliPoints } from './operation-costs.ts';

/** The variables of a request, before coercion. */
export type Variables = Readonly<Record<string, unknown>>;

/** The number of values that a field returns for each value of its parent. */
export type Count =
  | number
  /** The value of a variable, or the length of a list, but at most `maximum`. `omitted` if the request has no value for it. */
  | { variable: string; omitted: number; whenNull: number; maximum: number };

export interface LeafCost {
  responseName: string;
  weight: MilliPoints;
}

/** A text of each node of a page, which have a bound together. */
export interface PageText {
  responseName: string;
  /** Of each value. */
  weight: MilliPoints;
  /** Of all values of the page. */
  maximum: MilliPoints;
  /** The size of the page. */
  count: Count;
}

/** The cost of a field that returns objects. Fields with the same response name in one selection set are one. */
export interface ObjectCost {
  responseName: string;
  count: Count;
  /** Of each object, without its fields. */
  weight: MilliPoints;
  leaves: LeafCost[];
  /** The sum of what each object costs for all of its leaves, and for long response names of its fields. */
  leavesCost: MilliPoints;
  /** How much less an object costs at least, because some of its leaves never have a value together. */
  neverTogether: MilliPoints;
  /** The leaves that cost more than the default. They cost less if their value is short. */
  texts: LeafCost[];
  /** Of a connection: texts of its nodes, which neither `leavesCost` nor `texts` of the nodes contain. */
  pageTexts: PageText[];
  /** Those of `pageTexts` that are fields of these objects. */
  ownPageTexts: LeafCost[];
  children: ObjectCost[];
  /** The response names of `__schema` and `__type`, which cost the bytes of their values. */
  introspection: string[];
}

export interface CostPlan {
  root: ObjectCost;
  hasIntrospection: boolean;
  /** Fields of the document that are not executed: in other operations, skipped, or repeated in a selection set. */
  fieldsNotRun: number;
}

/** A document, prepared for planning the costs of its operations. */
export interface PreparedDocument {
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  fieldCount: number;
  /** The variables in `@skip` and in `@include`. Other variables only change page sizes. */
  planVariables: readonly string[];
}

export function prepareDocument(document: DocumentNode): PreparedDocument {
  let fieldCount = 0;
  visit(document, {
    Field() {
      fieldCount += 1;
    },
  });
  return { fragments: fragmentsOf(document), fieldCount, planVariables: conditionVariablesOf(document) };
}

/**
 * Plans the cost of an operation of a valid document.
 *
 * @param variables only the values of `planVariables` are read
 */
export function planCost(
  schema: GraphQLSchema,
  table: CostTable,
  { fragments, fieldCount }: PreparedDocument,
  operation: OperationDefinitionNode,
  variables: Variables,
): CostPlan {
  let hasIntrospection = false;
  const executed = new Set<FieldNode>();
  const leafWeight = toMilliPoints(defaultWeights.leaf);
  const defaults = new Map(
    (operation.variableDefinitions ?? []).map(({ variable, defaultValue }) => [variable.name.value, defaultValue]),
  );

  /** Groups the fields of selection sets by type and response name, as execution does. */
  function collect(typeName: string, selectionSets: readonly SelectionSetNode[]): Map<string, Collected> {
    const groups = new Map<string, Collected>();
    visitFields(
      selectionSets,
      fragments,
      (node, condition) => {
        const parentType = condition ?? typeName;
        const responseName = responseNameOf(node);
        const key = `${parentType}.${responseName}`;
        const group = groups.get(key);
        if (group) group.nodes.push(node);
        else groups.set(key, { parentType, responseName, nodes: [node] });
      },
      ({ directives }) => isIncluded(directives, variables, defaults),
    );
    return groups;
  }

  /** Adds the fields of selection sets to the plan of their parent. `page` is the page that it is in. */
  function addFields(plan: ObjectCost, typeName: string, page: Page, selectionSets: readonly SelectionSetNode[]): void {
    const groups = new Map<readonly string[], Alternative[]>();
    for (const { parentType, responseName, nodes } of collect(typeName, selectionSets).values()) {
      const [node] = nodes;
      if (!node) continue;
      executed.add(node);
      const name = node.name.value;
      if (node.alias) plan.leavesCost += costOfAlias(node.alias.value, name);
      if (name === '__schema' || name === '__type') {
        hasIntrospection = true;
        plan.introspection.push(responseName);
        continue;
      }
      const type = schema.getType(parentType);
      const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
      const cost = table.get(`${parentType}.${name}`);
      const weight = cost?.weight ?? leafWeight; // only `__typename` is not in the table
      const named = field && getNamedType(field.type);
      if (!field || !cost || !isCompositeType(named)) {
        const leaf = { responseName, weight };
        const maximum = cost?.textsOfPage ?? null;
        if (maximum !== null && page.connection !== null) {
          page.connection.pageTexts.push({ ...leaf, maximum, count: page.count });
          plan.ownPageTexts.push(leaf);
          continue;
        }
        plan.leaves.push(leaf);
        if (weight > leafWeight) plan.texts.push(leaf);
        plan.leavesCost += weight;
        if (cost?.group) groups.set(cost.group, [...(groups.get(cost.group) ?? []), { name, weight }]);
        continue;
      }
      const count =
        cost.size.kind === 'page'
          ? page.count
          : cost.size.kind === 'fixed'
            ? listSize(field, node, cost.size.items, defaults)
            : 1;
      const child = newObjectCost(responseName, count, weight);
      let childPage = cost.size.kind === 'fixed' ? { ...page, connection: null } : page;
      if (cost.pageMaximum !== null)
        childPage = { connection: child, count: sizeIn('first', field, node, cost.pageMaximum, defaults) };
      const inner = nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : []));
      addFields(child, named.name, childPage, inner);
      plan.children.push(child);
    }
    for (const group of groups.values()) plan.neverTogether += costOfNulls(group, leafWeight);
  }

  const rootType = schema.getRootType(operation.operation)?.name ?? '';
  const root = newObjectCost('', 1, 0);
  addFields(root, rootType, { connection: null, count: 1 }, [operation.selectionSet]);
  return { root, hasIntrospection, fieldsNotRun: fieldCount - executed.size };
}

/** The page of a connection in which a field is. */
interface Page {
  /** Null outside of connections. */
  connection: ObjectCost | null;
  count: Count;
}

function newObjectCost(responseName: string, count: Count, weight: MilliPoints): ObjectCost {
  return {
    responseName,
    count,
    weight,
    leaves: [],
    leavesCost: 0,
    neverTogether: 0,
    texts: [],
    pageTexts: [],
    ownPageTexts: [],
    children: [],
    introspection: [],
  };
}

/** A leaf of a group of `Alternatives`. With aliases, a field has several. */
interface Alternative {
  name: string;
  weight: MilliPoints;
}

/** How much the leaves of a group cost less than their sum, whichever of its fields has a value: the others are null. */
function costOfNulls(group: readonly Alternative[], leafWeight: MilliPoints): MilliPoints {
  const saved = new Map<string, MilliPoints>();
  for (const { name, weight } of group) saved.set(name, (saved.get(name) ?? 0) + weight - leafWeight);
  const savings = [...saved.values()];
  return savings.reduce((sum, saving) => sum + saving, 0) - Math.max(...savings);
}

interface Collected {
  parentType: string;
  responseName: string;
  nodes: FieldNode[];
}

type Defaults = ReadonlyMap<string, ValueNode | undefined>;

/** A condition that is not a Boolean fails the operation when its variables are coerced. Until then it counts as true. */
function isIncluded(directives: readonly DirectiveNode[] = [], variables: Variables, defaults: Defaults): boolean {
  return directives.every((directive) => {
    const condition = conditionOf(directive);
    if (!condition) return true;
    const excludes = directive.name.value === 'skip';
    if (condition.kind === Kind.BOOLEAN) return condition.value !== excludes;
    if (condition.kind !== Kind.VARIABLE) return true;
    const name = condition.name.value;
    const fallback = defaults.get(name);
    const value = Object.hasOwn(variables, name)
      ? variables[name]
      : fallback?.kind === Kind.BOOLEAN
        ? fallback.value
        : undefined;
    return typeof value === 'boolean' ? value !== excludes : true;
  });
}

/** A list of records by their identifiers has an item for each, and one with `first` or `hours` has as many as it. */
function listSize(field: GraphQLField<unknown, unknown>, node: FieldNode, items: number, defaults: Defaults): Count {
  const argument = (['ids', 'first', 'hours'] as const).find((sized) => field.args.some(({ name }) => name === sized));
  return argument === undefined ? items : sizeIn(argument, field, node, items, defaults);
}

/** An argument that is out of range fails its field, so it costs no more than the maximum. */
function sizeIn(
  argumentName: 'first' | 'hours' | 'ids',
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  maximum: number,
  defaults: Defaults,
): Count {
  const argument = field.args.find(({ name }) => name === argumentName);
  // Pothos sets `defaultValue`, a schema that is built from SDL has `default`.
  const fallback: unknown = argument?.default?.value ?? argument?.defaultValue;
  const byDefault = typeof fallback === 'number' ? fallback : literal(argument?.default?.literal);
  const whenNull = clamp(byDefault, maximum, maximum);
  const value = node.arguments?.find(({ name }) => name.value === argumentName)?.value;
  if (value?.kind !== Kind.VARIABLE) return clamp(literal(value), whenNull, maximum);
  const variable = value.name.value;
  return { variable, omitted: clamp(literal(defaults.get(variable)), whenNull, maximum), whenNull, maximum };
}

/** Null for null and for a literal that was omitted. */
function literal(value: ValueNode | undefined): number | null {
  if (!value || value.kind === Kind.NULL) return null;
  if (value.kind === Kind.LIST) return value.values.length;
  return value.kind === Kind.INT ? Number(value.value) : Number.POSITIVE_INFINITY;
}

function clamp(value: number | null, whenNull: number, maximum: number): number {
  return value === null ? whenNull : Math.max(0, Math.min(value, maximum));
}

export function countIn(count: Count, variables: Variables): number {
  if (typeof count === 'number') return count;
  const { variable, omitted, whenNull, maximum } = count;
  if (!Object.hasOwn(variables, variable)) return omitted;
  const value = variables[variable];
  if (Array.isArray(value)) return clamp(value.length, whenNull, maximum);
  return clamp(typeof value === 'number' || value === null ? value : maximum, whenNull, maximum);
}

/** The most that a field of objects can cost. */
export function costOf(plan: ObjectCost, variables: Variables): MilliPoints {
  return countIn(plan.count, variables) * costOfOne(plan, variables);
}

/** The most that one of the objects can cost. */
export function costOfOne(plan: ObjectCost, variables: Variables): MilliPoints {
  let sum = plan.weight + plan.leavesCost - plan.neverTogether;
  for (const text of plan.pageTexts) sum += costOfPageText(text, variables);
  for (const child of plan.children) sum += costOf(child, variables);
  return sum;
}

export function costOfPageText({ weight, maximum, count }: PageText, variables: Variables): MilliPoints {
  return Math.min(maximum, weight * countIn(count, variables));
}
