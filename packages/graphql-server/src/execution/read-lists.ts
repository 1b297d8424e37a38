import {
  defaultFieldResolver,
  getNullableType,
  type GraphQLFieldResolver,
  type GraphQLOutputType,
  type GraphQLSchema,
  isListType,
  isObjectType,
} from 'graphql';

type Resolver = GraphQLFieldResolver<unknown, unknown>;

/**
 * Makes the resolvers of lists return arrays instead of async iterables. While graphql waits for the next item of an async
 * iterable, and when it is aborted meanwhile, nothing handles the rejections of the items before: an item whose field fails
 * ("Aborted!" is one such error) would end the process.
 */
export function readListsInResolvers(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (resolve && isListType(getNullableType(field.type))) field.resolve = withReadLists(resolve);
    }
  }
}

/** For fields without a resolver. */
export const resolveProperty: Resolver = withReadLists(defaultFieldResolver);

function withReadLists(resolve: Resolver): Resolver {
  return (source, args, context, info) =>
    readLists(resolve(source, args, context, info), info.returnType, () => info.getAbortSignal()?.aborted === true);
}

function readLists(value: unknown, type: GraphQLOutputType, isAborted: () => boolean): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const list = getNullableType(type);
  if (!isListType(list)) return value;
  if (isPromiseLike(value)) {
    const read = value.then((resolved) => readLists(resolved, type, isAborted));
    // As an item of a list that graphql no longer wants, nothing else handles its rejection.
    read.then(undefined, () => {});
    return read;
  }
  const hasLists = isListType(getNullableType(list.ofType));
  const readItems = (items: readonly unknown[]): readonly unknown[] =>
    hasLists ? items.map((item) => readLists(item, list.ofType, isAborted)) : items;
  if (isAsyncIterable(value)) return readAll(value, isAborted).then(readItems);
  return hasLists && isIterable(value) ? readItems([...value]) : value;
}

/** Reads until the end, or until the first item after the operation was aborted. */
export async function readAll(items: AsyncIterable<unknown>, isAborted: () => boolean): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const each of items) {
    if (isAborted()) break;
    // An item can be a promise. Until all items are read, nothing else handles its rejection.
    if (isPromiseLike(each)) each.then(undefined, () => {});
    all.push(each);
  }
  return all;
}

export function isAsyncIterable(value: object): value is AsyncIterable<unknown> {
  return Symbol.asyncIterator in value && typeof value[Symbol.asyncIterator] === 'function';
}

export function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value && typeof value[Symbol.iterator] === 'function';
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
