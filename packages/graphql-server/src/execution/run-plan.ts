import {
  defaultFieldResolver,
  type ExecutionResult,
  getArgumentValues,
  GraphQLError,
  type GraphQLResolveInfo,
  locatedError,
  responsePathAsArray,
} from 'graphql';
import { withPlaces } from '../errors/found-error.ts';
import { isPromiseLike } from '../operation/deadline.ts';
import type { FieldPlan, FieldsPlan, OperationPlan, ValuePlan } from './operation-plan.ts';

type VariableValues = GraphQLResolveInfo['variableValues'];
type Path = GraphQLResolveInfo['path'];
type Completed = unknown;

/** One run of a plan. */
interface Run {
  plan: OperationPlan;
  contextValue: unknown;
  variableValues: VariableValues;
  errors: GraphQLError[];
  /** The places in the response that are null because of an error. Undefined is the whole response. */
  nulled: Set<Path | undefined> | undefined;
  /** True when the result is complete, or no longer wanted. */
  isOver: boolean;
  getAbortSignal: GraphQLResolveInfo['getAbortSignal'];
}

/** A run that has begun. */
export interface RunningPlan {
  result: ExecutionResult | Promise<ExecutionResult>;
  /** Calls no further resolvers, and aborts the resolvers that listen to the signal. */
  abort: () => void;
}

/**
 * Runs a plan with the same data and errors as graphql's `execute`, except where several errors compete for the same null:
 * when promises settle in another order, another one of them can be reported. An iterable that throws is read before its
 * items are completed, so the errors of the items before are missing.
 */
export function runPlan(plan: OperationPlan, variableValues: VariableValues, contextValue: unknown): RunningPlan {
  let signal: AbortController | undefined;
  const run: Run = {
    plan,
    contextValue,
    variableValues,
    errors: [],
    nulled: undefined,
    isOver: false,
    getAbortSignal() {
      signal ??= new AbortController();
      if (run.isOver) signal.abort();
      return signal.signal;
    },
  };
  const abort = (): void => {
    run.isOver = true;
    signal?.abort();
  };
  const finish = (data: Record<string, unknown> | null): ExecutionResult => {
    abort();
    return run.errors.length > 0 ? { errors: run.errors, data } : { data };
  };
  const fail = (error: unknown): ExecutionResult => {
    addError(run, toLocated(error), undefined);
    return finish(null);
  };
  try {
    const isSerial = plan.operation.operation === 'mutation';
    const data = isSerial ? resolveSerially(run, plan.root) : resolveFields(run, plan.root, undefined, undefined);
    return { result: isPromise(data) ? data.then(finish, fail) : finish(data), abort };
  } catch (error) {
    return { result: fail(error), abort };
  }
}

type Data = Record<string, unknown>;

function resolveFields(run: Run, plan: FieldsPlan, source: unknown, path: Path | undefined): Data | Promise<Data> {
  const data: Data = { ...plan.empty };
  let pending: Promise<unknown>[] | undefined;
  try {
    for (const field of plan.fields) {
      const value = resolveField(run, field, source, path);
      if (isPromise(value)) (pending ??= []).push(setLater(data, field.responseName, value));
      else data[field.responseName] = value;
    }
  } catch (error) {
    ignoreRejections(pending);
    throw error;
  }
  return pending ? onceSet(data, pending) : data;
}

// The closures of the next three functions are in their own functions: in a loop, or in a function that rarely needs them,
// every iteration and every call would allocate their scope.

function setLater<Key extends PropertyKey>(
  whole: Record<Key, unknown>,
  key: Key,
  part: Promise<unknown>,
): Promise<unknown> {
  return part.then((completed) => (whole[key] = completed));
}

function onceSet<Whole>(whole: Whole, pending: readonly Promise<unknown>[]): Promise<Whole> {
  const [only] = pending;
  return (pending.length === 1 && only ? only : Promise.all(pending)).then(() => whole);
}

function handleErrorLater(run: Run, field: FieldPlan, plan: ValuePlan, path: Path, value: Promise<unknown>): Completed {
  return value.then(undefined, (error: unknown) => handleError(run, field, plan, path, error));
}

/** The fields of a mutation: each begins when the one before it is complete. */
async function resolveSerially(run: Run, plan: FieldsPlan): Promise<Data> {
  const data: Data = { ...plan.empty };
  for (const field of plan.fields) {
    if (run.isOver) throw new Error('The operation is over.');
    data[field.responseName] = await resolveField(run, field, undefined, undefined);
  }
  return data;
}

/** Returns the completed value, or a promise of it. Throws, or rejects with, the error of a field that cannot be null. */
function resolveField(run: Run, field: FieldPlan, source: unknown, parentPath: Path | undefined): Completed {
  // Children refer to the path of their parent, so only a leaf can leave it until there is an error.
  const path = field.value.kind === 'leaf' ? undefined : fieldPath(field, parentPath);
  try {
    const resolved = resolveValue(run, field, source, parentPath, path);
    const completed = isPromiseLike(resolved)
      ? completeLater(run, field, field.value, path, resolved)
      : complete(run, field, field.value, path, resolved);
    return isPromise(completed)
      ? handleErrorLater(run, field, field.value, path ?? fieldPath(field, parentPath), completed)
      : completed;
  } catch (error) {
    return handleError(run, field, field.value, path ?? fieldPath(field, parentPath), error);
  }
}

function resolveValue(
  run: Run,
  field: FieldPlan,
  source: unknown,
  parentPath: Path | undefined,
  path: Path | undefined,
): unknown {
  const { definition } = field;
  const hasArguments = definition.args.length > 0;
  // Most fields are properties. They need neither arguments nor `info`.
  if (definition.resolve === undefined && !hasArguments && isObject(source)) {
    const value = source[definition.name];
    if (typeof value !== 'function') return value;
  }
  const given = hasArguments ? getArgumentValues(definition, field.nodes[0], run.variableValues) : {};
  const info = infoOf(run, field, path ?? fieldPath(field, parentPath));
  return (definition.resolve ?? defaultFieldResolver)(source, given, run.contextValue, info);
}

function completeLater(
  run: Run,
  field: FieldPlan,
  plan: ValuePlan,
  path: Path | undefined,
  value: PromiseLike<unknown>,
): Promise<unknown> {
  const promise = isPromise(value) ? value : Promise.resolve(value);
  return promise.then((resolved) => {
    if (run.isOver) {
      if (Array.isArray(resolved)) ignoreRejections(resolved);
      throw new Error('The operation is over.');
    }
    return complete(run, field, plan, path, resolved);
  });
}

/** @param path undefined for a leaf, which has no use for it */
function complete(run: Run, field: FieldPlan, plan: ValuePlan, path: Path | undefined, value: unknown): Completed {
  if (value instanceof Error) throw value;
  if (value === null || value === undefined) {
    if (plan.isNonNull) {
      throw new Error(`Cannot return null for non-nullable field ${field.parentType.name}.${field.definition.name}.`);
    }
    return null;
  }
  switch (plan.kind) {
    case 'leaf': {
      const coerced: unknown = plan.type.coerceOutputValue(value);
      if (coerced === null || coerced === undefined) {
        throw new Error(`${plan.type.name} has no output value for a value of type ${typeof value}.`);
      }
      return coerced;
    }
    case 'list':
      return completeList(run, field, plan.item, path, value);
    case 'object':
      return resolveFields(run, plan.fields, value, path);
  }
}

function completeList(
  run: Run,
  field: FieldPlan,
  item: ValuePlan,
  path: Path | undefined,
  value: unknown,
): unknown[] | Promise<unknown[]> {
  if (Array.isArray(value)) return completeItems(run, field, item, path, value);
  if (isIterable(value)) return completeItems(run, field, item, path, [...value]);
  throw new GraphQLError(
    `Expected Iterable, but did not find one for field "${field.parentType.name}.${field.definition.name}".`,
  );
}

function completeItems(
  run: Run,
  field: FieldPlan,
  plan: ValuePlan,
  path: Path | undefined,
  values: readonly unknown[],
): unknown[] | Promise<unknown[]> {
  const completed: unknown[] = [];
  let pending: Promise<unknown>[] | undefined;
  try {
    for (let index = 0; index < values.length; index += 1) {
      const itemPath: Path = { prev: path, key: index, typename: undefined };
      const item = completeItem(run, field, plan, itemPath, values[index]);
      completed.push(item);
      if (isPromise(item)) (pending ??= []).push(setLater(completed, index, item));
    }
  } catch (error) {
    ignoreRejections(pending);
    ignoreRejections(values);
    throw error;
  }
  return pending ? onceSet(completed, pending) : completed;
}

function completeItem(run: Run, field: FieldPlan, plan: ValuePlan, path: Path, value: unknown): Completed {
  try {
    const completed = isPromiseLike(value)
      ? completeLater(run, field, plan, path, value)
      : complete(run, field, plan, path, value);
    return isPromise(completed) ? handleErrorLater(run, field, plan, path, completed) : completed;
  } catch (error) {
    return handleError(run, field, plan, path, error);
  }
}

/** Returns the null that replaces the value. Throws if the value cannot be null, so that its parent becomes null. */
function handleError(run: Run, field: FieldPlan, plan: ValuePlan, path: Path, error: unknown): null {
  const located = withPlaces(locatedError(error, field.nodes, responsePathAsArray(path)));
  if (plan.isNonNull) throw located;
  addError(run, located, path);
  return null;
}

/** Omits the errors below a place that is null already. */
function addError(run: Run, error: GraphQLError, path: Path | undefined): void {
  run.nulled ??= new Set();
  for (let place = path; place !== undefined; place = place.prev) if (run.nulled.has(place)) return;
  if (run.nulled.has(undefined)) return;
  run.nulled.add(path);
  run.errors.push(error);
}

function toLocated(error: unknown): GraphQLError {
  return error instanceof GraphQLError ? error : locatedError(error, undefined);
}

function fieldPath({ responseName, parentType }: FieldPlan, prev: Path | undefined): Path {
  return { prev, key: responseName, typename: parentType.name };
}

/** Nothing waits for the values, because a sibling has failed. */
function ignoreRejections(values: readonly unknown[] = []): void {
  for (const value of values) if (isPromiseLike(value)) value.then(undefined, () => {});
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return isObject(value) && typeof value[Symbol.iterator] === 'function';
}

function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

function infoOf(run: Run, { definition, nodes, parentType }: FieldPlan, path: Path): GraphQLResolveInfo {
  const { schema, fragments, operation } = run.plan;
  return {
    fieldName: definition.name,
    fieldNodes: nodes,
    returnType: definition.type,
    parentType,
    path,
    schema,
    fragments,
    rootValue: undefined,
    operation,
    variableValues: run.variableValues,
    getAbortSignal: run.getAbortSignal,
    getAsyncHelpers,
  };
}

const getAsyncHelpers: GraphQLResolveInfo['getAsyncHelpers'] = () => ({
  promiseAll: (values) => Promise.all(values),
  track: (values) => ignoreRejections(values),
});
