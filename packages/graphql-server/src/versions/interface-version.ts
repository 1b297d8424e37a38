import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { describeFromSdl } from './describe-from-sdl.ts';

/** `retired` versions are not served, so there is no such status here. */
export type VersionStatus = 'preview' | 'current' | 'deprecated';

/** One dated version of an interface. */
export interface InterfaceVersion {
  /** A date, for example `2026-11-01`. */
  version: string;
  status: VersionStatus;
  schema: GraphQLSchema;
  /** Where the schema differs from its contract, one sentence. Null when it does not. */
  difference: string | null;
}

/** @param sdl the contract. The schema takes its descriptions from it; in everything else they must agree. */
export function defineVersion(definition: {
  version: string;
  status: VersionStatus;
  sdl: string;
  schema: GraphQLSchema;
}): InterfaceVersion {
  const { version, status, sdl, schema } = definition;
  const contract = buildSchema(sdl);
  describeFromSdl(schema, contract);
  return { version, status, schema, difference: firstDifference(version, printSorted(contract), printSorted(schema)) };
}

function printSorted(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema));
}

function firstDifference(version: string, contract: string, printed: string): string | null {
  if (contract === printed) return null;
  const expected = contract.split('\n');
  const actual = printed.split('\n');
  const line = expected.findIndex((text, index) => text !== actual[index]);
  const at = line === -1 ? expected.length : line;
  return (
    `schema ${version} differs from its contract (printed and sorted, line ${at + 1}): ` +
    `the contract has ${JSON.stringify(expected[at] ?? '')}, the schema has ${JSON.stringify(actual[at] ?? '')}`
  );
}
