import { compareGraphql } from '@deedwire/contract-check';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';

/** An interface as its app serves it. */
export interface ServedInterface {
  readonly name: string;
  readonly versions: readonly { readonly version: string; readonly schema: GraphQLSchema }[];
  /** Versions without a schema, schemas without a version, and missing dates. */
  readonly problems: readonly string[];
  /** The SDL of a version in the contract. */
  readonly sdl: (version: string) => string;
}

/** The differences between the contract and the served schemas, by coordinate, in the words of a contract change. */
export function servedDifferences({ name, versions, problems, sdl }: ServedInterface): string[] {
  const differences = versions.flatMap(({ version, schema }) => {
    const contract = { file: `${name} ${version}, contract`, text: print(buildSchema(sdl(version))) };
    const served = { file: `${name} ${version}, served`, text: print(schema) };
    return compareGraphql(contract, served).changes.map(
      ({ coordinate, message }) => `${name} ${version}, served instead of the contract: ${coordinate}: ${message}`,
    );
  });
  return [...differences, ...problems.map((problem) => `${name}: ${problem}`)];
}

function print(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema));
}
