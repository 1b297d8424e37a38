import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getVariableValues, Kind, parse, validate, type GraphQLSchema } from 'graphql';
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
}

export interface Exchange {
  readonly result: 'success' | 'user-errors';
  readonly variables: Readonly<Record<string, unknown>>;
  /** Path of the recorded response, relative to the workspace root. */
  readonly responsePath: string;
  /** Body of the response, as recorded by the contract tests. Null if it has not been recorded yet. */
  readonly response: unknown;
}

type ByDate = ReadonlyMap<string, GraphQLSchema>;

/**
 * Reads the examples of each version. An operation without an example in the folder of its version uses the newest one of
 * an older version, even if that version is retired.
 *
 * @param folder path relative to the workspace root
 * @throws {Error} if an operation has no example, an example is not valid for its schema, or a file is unused
 */
export function readExamples(folder: string, schemas: ByDate): Map<string, Example[]> {
  const files = globSync('*/*.*', { cwd: join(workspaceRoot, folder) }).toSorted();
  const dates = [...new Set(files.map(dirname))].toReversed();
  const examples = new Map(
    Array.from(schemas, ([version, schema]) => {
      const available = dates.filter((date) => date <= version);
      const read = (operation: Operation): Example => readExample(folder, available, operation, { version, schema });
      return [version, operationsOf(schema).map(read)] as const;
    }),
  );
  const used = new Set([...examples.values()].flat().map(({ path }) => path));
  const stray = files.find((file) => !used.has(`${folder}/${file.replace(fileEnding, '')}`));
  if (stray !== undefined) throw new Error(`${folder}/${stray}: no version uses this file`);
  return examples;
}

const fileEnding = /\.(?:graphql|(?:refused\.)?(?:variables|response)\.json)$/;

interface Operation {
  kind: Example['kind'];
  name: string;
}

function operationsOf(schema: GraphQLSchema): Operation[] {
  return (['query', 'mutation'] as const).flatMap((kind) =>
    Object.keys(schema.getRootType(kind)?.getFields() ?? {}).map((name) => ({ kind, name })),
  );
}

function readExample(
  folder: string,
  dates: readonly string[],
  { kind, name }: Operation,
  { version, schema }: { version: string; schema: GraphQLSchema },
): Example {
  const date = dates.find((candidate) => fileExists(`${folder}/${candidate}/${name}.graphql`));
  if (date === undefined) throw new Error(`${folder}/${version}/${name}.graphql: missing example`);
  const path = `${folder}/${date}/${name}`;
  const document = readText(`${path}.graphql`);
  const hasRefusal = fileExists(`${path}.refused.variables.json`);
  const exchanges = [
    readExchange('success', path),
    ...(hasRefusal ? [readExchange('user-errors', `${path}.refused`)] : []),
  ];
  const problems = exchanges.flatMap(({ variables }) => problemsOf(schema, { kind, name }, document, variables));
  if (problems.length > 0) {
    const remedy = date === version ? '' : ` Version ${version} needs its own example.`;
    throw new Error(`${path}.graphql at ${version}: ${problems.join(' ')}${remedy}`);
  }
  return { path, kind, operation: name, document, exchanges };
}

function readExchange(result: Exchange['result'], path: string): Exchange {
  const variablesPath = `${path}.variables.json`;
  const responsePath = `${path}.response.json`;
  return {
    result,
    variables: fileExists(variablesPath) ? JSON.parse(readText(variablesPath)) : {},
    responsePath,
    response: fileExists(responsePath) ? JSON.parse(readText(responsePath)) : null,
  };
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
