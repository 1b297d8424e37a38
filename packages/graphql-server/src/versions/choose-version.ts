import { RequestError } from '../errors/request-error.ts';
import type { InterfaceVersion } from './serve-contract.ts';

/**
 * The version to serve: the one that the header names, else the one pinned on the client. Never another one in its place.
 *
 * @param named the values of the version header, one for each time it was sent.
 * @throws {RequestError} when the version is unknown or retired.
 */
export function chooseVersion<Version extends Pick<InterfaceVersion, 'version' | 'status'>>(
  versions: readonly Version[],
  named: readonly string[],
  pinned: string,
): Version {
  const wanted = named.length > 0 ? named.join(', ') : pinned;
  const chosen = versions.find(({ version }) => version === wanted);
  if (chosen) return chosen;
  const supportedVersions = versions.map(({ version }) => version);
  throw new RequestError('UNSUPPORTED_SCHEMA_VERSION', {
    message: `This schema version is not served. Supported: ${supportedVersions.join(', ')}.`,
    extensions: { supportedVersions },
  });
}
