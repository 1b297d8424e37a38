import { UnknownVersionError } from './unknown-version-error.ts';

/**
 * What an API key or a session of the portal must have to use a field, as in the manifest. Coordinates are of the form `Type.field`. Each
 * field of `Query` and `Mutation` has an entry; another field without one needs nothing.
 */
export type OperationAbilities = Readonly<Record<string, readonly string[]>>;

const abilitiesByVersion: ReadonlyMap<string, OperationAbilities> = new Map<string, OperationAbilities>([
  // VERSIONS
]);

/**
 * What the fields of a version need.
 *
 * @throws {UnknownVersionError} when the interface has no such version
 */
export function abilities(version: string): OperationAbilities {
  const found = abilitiesByVersion.get(version);
  if (found === undefined) throw new UnknownVersionError(version, [...abilitiesByVersion.keys()]);
  return found;
}
