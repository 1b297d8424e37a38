import type { SchemaVersion } from './contract.ts';
import { contracts } from './generated/contracts.ts';
import { UnknownVersionError } from './unknown-version-error.ts';

/** Every version of the partner interface, oldest first. */
export const versions: readonly SchemaVersion[] = contracts.map(({ version, status, deprecatedOn, sunsetOn }) => ({
  version,
  status,
  deprecatedOn,
  sunsetOn,
}));

/**
 * The SDL of a version, byte for byte as in its `.graphql` file.
 *
 * @throws {UnknownVersionError} when the interface has no such version
 */
export function sdl(version: string): string {
  const contract = contracts.find((candidate) => candidate.version === version);
  if (contract !== undefined) return contract.sdl;
  throw new UnknownVersionError(
    version,
    contracts.map((candidate) => candidate.version),
  );
}
