import { readDeprecation, type Deprecation, type VersionLifecycle } from '@deedwire/core';
import { type OperationCosts, readCostTable } from '@deedwire/operation-analysis';
import { buildSchema, type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { type AbilityTable, findAbilityProblems } from '../operation/needed-abilities.ts';
import { describeFromSdl } from './describe-from-sdl.ts';

/** The contract of an interface, as a schema package exports it. */
export interface Contract {
  /** Oldest first. */
  versions: readonly {
    version: string;
    status: 'preview' | 'current' | 'deprecated' | 'retired';
    /** `YYYY-MM-DD`. Null unless the version is deprecated or retired. */
    deprecatedOn: string | null;
    /** `YYYY-MM-DD`, the first day on which the version is no longer served. Null if no sunset is planned. */
    sunsetOn: string | null;
  }[];
  sdl: (version: string) => string;
  costs: (version: string) => OperationCosts;
  abilities: (version: string) => AbilityTable;
}

/** One dated version of an interface. */
export interface InterfaceVersion extends VersionLifecycle {
  /** A date, for example `2026-11-01`. */
  version: string;
  /** Null unless the version is deprecated. */
  deprecation: Deprecation | null;
  schema: GraphQLSchema;
  costs: OperationCosts;
  abilities: AbilityTable;
}

export interface ServedContract {
  /** Oldest first. */
  versions: readonly InterfaceVersion[];
  /** The differences between the schemas and the contract, and the faults of its costs and abilities. A service with a problem must not become ready. */
  problems: readonly string[];
}

/**
 * Binds each version of a contract that is not retired to its schema. Copies the descriptions from the SDL into the schema
 * and compares everything else.
 */
export function serveContract(contract: Contract, schemas: ReadonlyMap<string, GraphQLSchema>): ServedContract {
  const versions: InterfaceVersion[] = [];
  const problems: string[] = [];
  for (const { version, status, ...days } of contract.versions) {
    const schema = schemas.get(version);
    if (status === 'retired') continue;
    if (!schema) {
      problems.push(`schema version ${version} is in the contract, but the app has no schema for it`);
      continue;
    }
    const promised = buildSchema(contract.sdl(version));
    describeFromSdl(schema, promised);
    const difference = firstDifference(printSorted(promised), printSorted(schema));
    if (difference !== null) problems.push(`schema version ${version} differs from its contract: ${difference}`);
    const deprecation = status === 'deprecated' ? readDeprecation(days) : null;
    if (status === 'deprecated' && !deprecation?.sunsetAt) {
      problems.push(
        `schema version ${version} is deprecated, but its deprecatedOn or sunsetOn is missing or not a date`,
      );
    }
    const [costs, abilities] = [contract.costs(version), contract.abilities(version)];
    for (const problem of [...readCostTable(schema, costs).problems, ...findAbilityProblems(schema, abilities)])
      problems.push(`schema version ${version}: ${problem}`);
    versions.push({ version, status, sunsetOn: days.sunsetOn, deprecation, schema, costs, abilities });
  }
  for (const version of schemas.keys()) {
    const isServed = versions.some((served) => served.version === version);
    if (!isServed)
      problems.push(`the app has a schema for version ${version}, which is retired or not in the contract`);
  }
  return { versions, problems };
}

function printSorted(schema: GraphQLSchema): string {
  return printSchema(lexicographicSortSchema(schema));
}

/** Describes the first line that differs. Both schemas must be printed and sorted. */
function firstDifference(promised: string, printed: string): string | null {
  if (promised === printed) return null;
  const expected = promised.split('\n');
  const actual = printed.split('\n');
  const at = expected.findIndex((line, index) => line !== actual[index]);
  const index = at === -1 ? expected.length : at;
  const lineOf = (lines: string[]) => JSON.stringify(lines[index]?.trim() ?? '(end)');
  const inside = expected.slice(0, index).findLast((line) => /^[a-z].* \{$/.test(line)) ?? 'the schema {';
  return `after "${inside.slice(0, -2)}" the contract has ${lineOf(expected)}, the schema has ${lineOf(actual)}`;
}
