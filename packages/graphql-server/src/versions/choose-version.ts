import { isRetired } from '@deedwire/domain';
import { RequestError } from '../errors/request-error.ts';
import type { InterfaceVersion } from './serve-contract.ts';

/**
 * The version to serve: the one that the header names, else the one pinned on the client. Never another one in its place.
 *
 * @param named the values of the version header, one for each time it was sent.
 * @throws {RequestError} when the version is unknown, retired, or has come to the end that was announced.
 */
export function chooseVersion<Version extends Pick<InterfaceVersion, 'version' | 'status' | 'sunsetOn'>>(
  versions: readonly Version[],
  named: readonly string[],
  pinned: string,
  now: Date,
): Version {
  const wanted = named.length > 0 ? named.join(', ') : pinned;
  const supported = versions.filter((version) => !isRetired(version, now));
  const chosen = supported.find(({ version }) => version === wanted);
  if (chosen) return chosen;
  const supportedVersions = supported.map(({ version }) => version);
  throw new RequestError('UNSUPPORTED_SCHEMA_VERSION', {
    message: `This schema version is not served. Supported: ${supportedVersions.join(', ')}.`,
    extensions: { supportedVersions },
  });
}
