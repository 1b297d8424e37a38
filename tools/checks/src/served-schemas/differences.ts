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

/** The differences between the contract and the served schemas, by coordinate. */
export function servedDifferences({ name, versions, problems, sdl }: ServedInterface): string[] {
  const differences = versions.flatMap(({ version, schema }) => {
    const contract = { file: `${name} ${version}, contract`, text: print(buildSchema(sdl(version))) };
    const served = { file: `${name} ${version}, served`, text: print(schema) };
    return compareGraphql(contract, served).changes.map(
      ({ coordinate, message }) => `${name} ${version}: ${coordinate}: ${asComparison(message)}`,
    );
  });
  return [...differences, ...problems.map((problem) => `${name}: ${problem}`)];
}

/** Neither side is the newer one: what the app lacks can be what was just added to the SDL. */
function asComparison(message: string): string {
  return message
    .replace(/ was removed\b/, ' is in the SDL, but not served')
    .replace(/ was added( with the type [^ ]+)?\./, ' is served$1, but not in the SDL.')
    .replace(/ changed from (.+) to (.+)\.$/s, ' is $1 in the SDL, but $2 is served.');
}

function print(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema));
}
