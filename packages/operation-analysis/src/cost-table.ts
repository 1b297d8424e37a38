import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLOutputType,
  type GraphQLSchema,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
} from 'graphql';
import { defaultWeights, type MilliPoints, type OperationCosts, toMilliPoints } from './operation-costs.ts';

/**
 * Groups of fields of which at most one has a value in an object, by coordinate. Only the most expensive one counts before an
 * operation runs.
 */
export type Alternatives = readonly (readonly string[])[];

const alternatives: Alternatives = [['WebhookExchange.responseBody', 'WebhookExchange.responseBodyBase64']];

type Field = GraphQLField<unknown, unknown>;

/** How many values a field returns for each parent. */
export type ListSize =
  | { kind: 'single' }
  /** A list with a declared maximum. */
  | { kind: 'fixed'; items: number }
  /** A list of a connection: as many as the page has. */
  | { kind: 'page' };

export interface FieldCost {
  /** Of each value. */
  weight: MilliPoints;
  size: ListSize;
  /** The most that the values of a text cost together in a page. Null if there is no such bound. */
  textsOfPage: MilliPoints | null;
  /** The page size of a connection if `first` is larger. Null if the field returns no connection. */
  pageMaximum: number | null;
  /** The group of `Alternatives` to which the field belongs. Null if none. */
  group: readonly string[] | null;
}

/** The costs of the fields of a schema, by coordinate. */
export type CostTable = ReadonlyMap<string, FieldCost>;

/**
 * Reads the costs of every field of a schema.
 *
 * @returns the table, and one sentence for each weight or size that is missing, in the wrong place or out of range
 */
export function readCostTable(
  schema: GraphQLSchema,
  costs: OperationCosts,
  groups: Alternatives = alternatives,
): { table: CostTable; problems: readonly string[] } {
  const table = new Map<string, FieldCost>();
  const problems: string[] = [];
  const fields = Object.values(schema.getTypeMap()).flatMap((type) =>
    (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith('__')
      ? Object.values(type.getFields()).map((field) => ({ type, field }))
      : [],
  );
  // The lists of a connection type have the size of the page, so every field that returns the type must have `first`. A list
  // with `first` is no connection: it has at most its list size.
  const connections = new Set(
    fields.filter(({ field }) => isPaged(field)).map(({ field }) => getNamedType(field.type)),
  );
  for (const { type, field } of fields) {
    const coordinate = `${type.name}.${field.name}`;
    const isObject = isCompositeType(getNamedType(field.type));
    const declared = costs.listSizes[coordinate];
    const weight = costs.weights[coordinate] ?? (isObject ? defaultWeights.object : defaultWeights.leaf);
    if (!(weight >= 0)) problems.push(`the cost weight of ${coordinate} is ${weight}; it must be 0 or more`);
    if (declared !== undefined && !(Number.isInteger(declared) && declared > 0))
      problems.push(`the list size of ${coordinate} is ${declared}; it must be a positive integer`);

    let size: ListSize = { kind: 'single' };
    const isList = isObject && containsList(field.type);
    if (isList && connections.has(type)) size = { kind: 'page' };
    else if (isList && declared !== undefined) size = { kind: 'fixed', items: declared };
    else if (isList) problems.push(`${coordinate} returns a list, but its manifest has no "costListSizes" for it`);
    if (declared !== undefined && size.kind !== 'fixed' && !isPaged(field))
      problems.push(`${coordinate} has a list size, but it is neither a list of objects nor a connection`);
    if (!isPaged(field) && connections.has(getNamedType(field.type)))
      problems.push(`${coordinate} returns a connection, but has no argument "first"`);

    const textsOfPage = costs.pageMaximums?.[coordinate] ?? null;
    if (textsOfPage !== null && (isObject || !(textsOfPage >= weight)))
      problems.push(`the page maximum of ${coordinate} is ${textsOfPage}; it must be a text, and at least its weight`);

    const pageMaximum = isPaged(field) ? Math.min(declared ?? Infinity, costs.pageSizeMaximum) : null;
    const group = groups.find((coordinates) => coordinates.includes(coordinate)) ?? null;
    table.set(coordinate, {
      weight: toMilliPoints(weight),
      size,
      textsOfPage: textsOfPage === null ? null : toMilliPoints(textsOfPage),
      pageMaximum,
      group,
    });
  }
  for (const { type, field } of fields) {
    for (const { name } of type.getInterfaces()) {
      const [own, general] = [table.get(`${type.name}.${field.name}`), table.get(`${name}.${field.name}`)];
      if (own && general && maximumOf(own) > maximumOf(general))
        problems.push(`${type.name}.${field.name} costs more than ${name}.${field.name}, which it implements`);
    }
  }
  return { table, problems };
}

/** The maximum cost of the values of a field, without the fields below them. */
function maximumOf({ weight, size, pageMaximum }: FieldCost): number {
  return weight * (size.kind === 'fixed' ? size.items : 1) * (pageMaximum ?? 1);
}

function isPaged({ args, type }: Field): boolean {
  return args.some(({ name }) => name === 'first') && !containsList(type);
}

function containsList(type: GraphQLOutputType): boolean {
  return isListType(getNullableType(type));
}
