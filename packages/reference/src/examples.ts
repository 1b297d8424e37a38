import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { getVariableValues, Kind, parse, validate, type GraphQLSchema } from 'graphql';
import { fileExists, readText, workspaceRoot } from './workspace-files.ts';

/** An operation as a client would send it, with what came back. */
export interface Example {
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
 * The examples of each version, oldest first: those in the folder of its date, and for every other operation the newest
 * of an older version.
 *
 * @param folder from the root of the workspace
 * @throws Error for an operation without an example, an example that its schema refuses, and a file that is no example
 */
export function readExamples(folder: string, schemas: ByDate): Map<string, Example[]> {
  refuseStrays(folder, schemas);
  const dates = [...schemas.keys()];
  const entries = Array.from(schemas, ([date, schema]): [string, Example[]] => {
    const available = dates.filter((candidate) => candidate <= date).toReversed();
    return [date, operationsOf(schema).map((operation) => readExample(folder, available, operation, schema))];
  });
  return new Map(entries);
}

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
  schema: GraphQLSchema,
): Example {
  const date = dates.find((candidate) => fileExists(`${folder}/${candidate}/${name}.graphql`));
  if (date === undefined) throw new Error(`${folder}/${dates[0]}/${name}.graphql: the example is missing`);
  const path = `${folder}/${date}/${name}`;
  const document = readText(`${path}.graphql`);
  const hasRefusal = fileExists(`${path}.refused.variables.json`);
  const exchanges = [
    readExchange('success', path),
    ...(hasRefusal ? [readExchange('refusal', `${path}.refused`)] : []),
  ];
  const problems = exchanges.flatMap(({ variables }) => problemsOf(schema, { kind, name }, document, variables));
  if (problems.length > 0) {
    const remedy = date === dates[0] ? '' : ` Version ${dates[0]} needs an example of its own.`;
    throw new Error(`${path}.graphql at ${dates[0]}: ${problems.join(' ')}${remedy}`);
  }
  return { kind, operation: name, document, exchanges };
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

function refuseStrays(folder: string, schemas: ByDate): void {
  for (const file of globSync('**/*.*', { cwd: join(workspaceRoot, folder) }).toSorted()) {
    const schema = schemas.get(dirname(file));
    const operations = schema === undefined ? [] : operationsOf(schema).map(({ name }) => name);
    const [, operation = ''] =
      /^(\w+)\.(?:graphql|(?:refused\.)?(?:variables|answer)\.json)$/.exec(basename(file)) ?? [];
    const isExample = operations.includes(operation) && fileExists(`${folder}/${dirname(file)}/${operation}.graphql`);
    if (!isExample) throw new Error(`${folder}/${file}: it is no example of an operation of that version`);
  }
}
