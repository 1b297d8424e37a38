import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getVariableValues, Kind, parse, validate, type GraphQLSchema } from 'graphql';
import { fileExists, readText, workspaceRoot } from './workspace-files.ts';

/** An operation as a client would send it, with what came back. */
export interface Example {
  /** Of its files, from the root of the workspace, without their endings. */
  readonly path: string;
  readonly kind: 'query' | 'mutation';
  /** The name of the root field. */
  readonly operation: string;
  readonly document: string;
  /** What is sent and what comes back: first what succeeds, then, for some, what is refused with user errors. */
  readonly exchanges: readonly Exchange[];
}

export interface Exchange {
  readonly outcome: 'success' | 'refusal';
  readonly variables: Readonly<Record<string, unknown>>;
  /** The file with the answer, from the root of the workspace. */
  readonly answerPath: string;
  /** The body of the answer, as recorded by the contract tests. Null when it has not been recorded yet. */
  readonly answer: unknown;
}

type ByDate = ReadonlyMap<string, GraphQLSchema>;

/**
 * The examples of each version: those in the folder of its date, and for every other operation the newest of an older
 * date. An older date may be retired: what later versions share with it stays where it is.
 *
 * @param folder from the root of the workspace
 * @throws Error for an operation without an example, an example that its schema refuses, and a file that is of no use
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
  if (stray !== undefined) throw new Error(`${folder}/${stray}: no version has this for an example`);
  return examples;
}

const fileEnding = /\.(?:graphql|(?:refused\.)?(?:variables|answer)\.json)$/;

interface Operation {
  kind: Example['kind'];
  name: string;
}

function operationsOf(schema: GraphQLSchema): Operation[] {
  const roots = { query: schema.getQueryType(), mutation: schema.getMutationType() };
  return (['query', 'mutation'] as const).flatMap((kind) =>
    Object.keys(roots[kind]?.getFields() ?? {}).map((name) => ({ kind, name })),
  );
}

function readExample(
  folder: string,
  dates: readonly string[],
  { kind, name }: Operation,
  { version, schema }: { version: string; schema: GraphQLSchema },
): Example {
  const date = dates.find((candidate) => fileExists(`${folder}/${candidate}/${name}.graphql`));
  if (date === undefined) throw new Error(`${folder}/${version}/${name}.graphql: the example is missing`);
  const path = `${folder}/${date}/${name}`;
  const document = readText(`${path}.graphql`);
  const hasRefusal = fileExists(`${path}.refused.variables.json`);
  const exchanges = [
    readExchange('success', path),
    ...(hasRefusal ? [readExchange('refusal', `${path}.refused`)] : []),
  ];
  const problems = exchanges.flatMap(({ variables }) => problemsOf(schema, { kind, name }, document, variables));
  if (problems.length > 0) {
    const remedy = date === version ? '' : ` Version ${version} needs an example of its own.`;
    throw new Error(`${path}.graphql at ${version}: ${problems.join(' ')}${remedy}`);
  }
  return { path, kind, operation: name, document, exchanges };
}

function readExchange(outcome: Exchange['outcome'], path: string): Exchange {
  const variablesPath = `${path}.variables.json`;
  const answerPath = `${path}.answer.json`;
  return {
    outcome,
    variables: fileExists(variablesPath) ? JSON.parse(readText(variablesPath)) : {},
    answerPath,
    answer: fileExists(answerPath) ? JSON.parse(readText(answerPath)) : null,
  };
}

/** Why an example is not one, in sentences; none when it is. */
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
  const isIt = operation?.operation === kind && field?.kind === Kind.FIELD && field.name.value === name;
  if (!isIt || others.length > 0 || operations.length > 1) return [`It must be one ${kind} of ${name} alone.`];
  return getVariableValues(schema, operation.variableDefinitions ?? [], variables).errors?.map(String) ?? [];
}
