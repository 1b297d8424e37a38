import { toMilliPoints } from '@deedwire/operation-analysis';
import { defaultFieldResolver, getNamedType, type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql';
import { isPromiseLike } from '../operation/deadline.ts';
import type { WorkContext } from '../operation/operation-pauses.ts';

/** As a node of a connection. */
const costOfRow = toMilliPoints(0.5);

/** Some schemas have several executors. */
const changed = new WeakSet<GraphQLSchema>();

/**
 * The rows of a page cost points in the end if neither `edges` nor `nodes` returns them: the resolver of the connection reads
 * them whatever is selected. Otherwise their price is that of the items. Changes the resolvers of connections in the schema.
 */
export function countRowsOfPages(schema: GraphQLSchema): void {
  if (changed.has(schema)) return;
  changed.add(schema);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    const isPage = isConnection(type.name);
    for (const field of Object.values(type.getFields())) {
      if (isConnection(getNamedType(field.type).name)) addRowsAfter(field);
      if (isPage && (field.name === 'edges' || field.name === 'nodes')) removeRowsBefore(field);
    }
  }
}

function isConnection(typeName: string): boolean {
  return typeName.endsWith('Connection');
}

type Field = GraphQLField<unknown, WorkContext | undefined>;

function addRowsAfter(field: Field): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (source, given, context, info) => {
    const page: unknown = resolve(source, given, context, info);
    const add = (resolved: unknown): unknown => {
      addRows(resolved, context);
      return resolved;
    };
    return isPromiseLike(page) ? page.then(add) : add(page);
  };
}

function removeRowsBefore(field: Field): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (page, given, context, info) => {
    removeRows(page, context);
    return resolve(page, given, context, info);
  };
}

function addRows(page: unknown, context: WorkContext | undefined): void {
  const extraWork = context?.extraWork;
  if (extraWork === undefined || typeof page !== 'object' || page === null) return;
  extraWork.pages ??= new Map();
  // Two aliases can share a page.
  if (extraWork.pages.has(page)) return;
  extraWork.pages.set(page, 'unreturned');
  extraWork.cost += rowsOf(page) * costOfRow;
}

function removeRows(page: unknown, context: WorkContext | undefined): void {
  const extraWork = context?.extraWork;
  if (extraWork === undefined || typeof page !== 'object' || page === null) return;
  if (extraWork.pages?.get(page) !== 'unreturned') return;
  extraWork.pages.set(page, 'returned');
  extraWork.cost -= rowsOf(page) * costOfRow;
}

function rowsOf(page: object): number {
  return 'edges' in page && Array.isArray(page.edges) ? page.edges.length : 0;
}
