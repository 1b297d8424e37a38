import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getVariableValues, type GraphQLSchema, Kind, parse, validate } from 'graphql';
import { fileExists, readText, workspaceRoot } from '../workspace-files.ts';

/** An operation as a client sends it, with its recorded responses. */
export interface Example {
  /** Path of its files without extension, relative to the workspace root. */
  readonly path: string;
  readonly kind: 'query' | 'mutation';
  /** The name of the root field. */
  readonly operation: string;
  readonly document: string;
  /** A request that succeeds and, for some operations, one that returns user errors. */
  readonly exchanges: readonly Exchange[];
  /** The types of the events that the request that succeeds caused when it was recorded. Empty if there are none. */
  readonly events: readonly string[];
}

export interface Exchange {
  readonly result: 'success' | 'user-errors';
  readonly variables: Readonly<Record<string, unknown>>;
  /** Path of the recorded response, relative to the workspace root. */
  readonly responsePath: string;
  /** Body of the response, as recorded by the contract tests. Null if it has not been recorded yet. */
  readonly response: unknown;
}

/** A version of an interface. */
export interface ExampleVersion {
  readonly schema: GraphQLSchema;
  /** The folders of examples of every interface that apply, the newest first. Relative to the workspace root. */
  readonly common: readonly string[];
  /** Fills the slots of a file of a common folder. */
  readonly fillSlotsOf: (path: string, text: string) => string;
}

type ByDate = ReadonlyMap<string, ExampleVersion>;

/**
 * Reads the examples of each version. An operation without an example in the folder of its version uses the newest one of
 * an older version, even if that version is retired, and without such a one that of every interface. A response that is not beside its
 * document is in the folder of the newest version that has recorded one.
 *
 * @param folder that of the interface, relative to the workspace root
 * @throws {Error} if an operation has no example, an example is not valid for its schema, or a file of `folder` is unused
 */
export function readExamples(folder: string, versions: ByDate): Map<string, Example[]> {
  const dates = [...new Set(filesIn(folder).map(dirname))].toReversed();
  const examples = new Map(
    Array.from(versions, ([version, given]) => {
      const own = dates.filter((date) => date <= version).map((date) => `${folder}/${date}`);
      // A response to a common document is recorded first at the oldest version that uses it.
      const firstUse = (from: string): string =>
        `${folder}/${[...versions].find(([, { common }]) => common.includes(from))?.[0] ?? version}`;
      const read = (operation: Operation): Example =>
        readExample(operation, { ...given, target: `${folder}/${version}`, own, firstUse });
      return [version, operationsOf(given.schema).map(read)] as const;
    }),
  );
  requireUsed(folder, [...examples.values()].flat());
  return examples;
}

/** @throws {Error} if no example has a file of the folder */
export function requireUsed(folder: string, examples: readonly Example[]): void {
  const used = new Set(
    examples.flatMap(({ path, exchanges }) => [
      path,
      ...exchanges.map(({ responsePath }) => withoutEnding(responsePath)),
    ]),
  );
  const stray = filesIn(folder).find((file) => !used.has(`${folder}/${withoutEnding(file)}`));
  if (stray !== undefined) throw new Error(`${folder}/${stray}: no version uses this file`);
}

function filesIn(folder: string): string[] {
  return globSync('*/*.*', { cwd: join(workspaceRoot, folder) }).toSorted();
}

function withoutEnding(file: string): string {
  return file.replace(/\.(?:graphql|(?:events|(?:refused\.)?(?:variables|response))\.json)$/, '');
}

interface Operation {
  kind: Example['kind'];
  name: string;
}

function operationsOf(schema: GraphQLSchema): Operation[] {
  return (['query', 'mutation'] as const).flatMap((kind) =>
    Object.keys(schema.getRootType(kind)?.getFields() ?? {}).map((name) => ({ kind, name })),
  );
}

interface Places extends ExampleVersion {
  /** The folder of the version. */
  readonly target: string;
  /** The folders of the interface that apply, the newest first. */
  readonly own: readonly string[];
  /** The folder of the oldest version that uses a common folder. */
  readonly firstUse: (from: string) => string;
}

function readExample({ kind, name }: Operation, places: Places): Example {
  const { schema, target, own, common, fillSlotsOf, firstUse } = places;
  const from = [...own, ...common].find((candidate) => fileExists(`${candidate}/${name}.graphql`));
  if (from === undefined) {
    const folders = [target, ...common.slice(0, 1)].map((folder) => `${folder}/${name}.graphql`);
    throw new Error(`${folders.join(', or of every interface, ')}: missing example`);
  }
  const isOwn = own.includes(from);
  const read = (path: string): string => (isOwn ? readText(path) : fillSlotsOf(path, readText(path)));
  const path = `${from}/${name}`;
  const document = read(`${path}.graphql`);

  const exchange = (result: Exchange['result'], ending: string): Exchange => {
    const variablesPath = `${path}${ending}.variables.json`;
    const response = `${name}${ending}.response.json`;
    const recorded = isOwn ? from : own.find((candidate) => fileExists(`${candidate}/${response}`));
    const responsePath = `${recorded ?? firstUse(from)}/${response}`;
    return {
      result,
      variables: fileExists(variablesPath) ? JSON.parse(read(variablesPath)) : {},
      responsePath,
      response: fileExists(responsePath) ? JSON.parse(readText(responsePath)) : null,
    };
  };

  const success = exchange('success', '');
  const hasRefusal = fileExists(`${path}.refused.variables.json`);
  const exchanges = [success, ...(hasRefusal ? [exchange('user-errors', '.refused')] : [])];
  const problems = exchanges.flatMap(({ variables }) => problemsOf(schema, { kind, name }, document, variables));
  if (problems.length > 0) {
    const version = basename(target);
    const remedy = from === target ? '' : ` Version ${version} needs its own example.`;
    throw new Error(`${path}.graphql at ${version}: ${problems.join(' ')}${remedy}`);
  }
  const recordedEvents = eventsPath(success);
  const events: string[] = fileExists(recordedEvents) ? JSON.parse(readText(recordedEvents)) : [];
  return { path, kind, operation: name, document, exchanges, events };
}

/** The file with the types of the events that an exchange causes, beside its response. It exists if there are any. */
export function eventsPath({ responsePath }: Pick<Exchange, 'responsePath'>): string {
  return responsePath.replace(/response\.json$/, 'events.json');
}

/** The reasons why a document is not a valid example of an operation, as sentences. Empty if it is valid. */
function problemsOf(
  schema: GraphQLSchema,
  { kind, name }: Operation,
  document: string,
  variables: Record<string, unknown>,
): string[] {
  const parsed = parse(document);
  const invalid = validate(schema, parsed);
  if (invalid.length > 0) return invalid.map(({ message }) => message);
  const operations = parsed.definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  const [field, ...others] = operation?.selectionSet.selections ?? [];
  const isExample = operation?.operation === kind && field?.kind === Kind.FIELD && field.name.value === name;
  if (!isExample || others.length > 0 || operations.length > 1)
    return [`The document must contain one ${kind} that selects only ${name}.`];
  return getVariableValues(schema, operation.variableDefinitions ?? [], variables).errors?.map(String) ?? [];
}
