import { isRetired } from '@deedwire/domain';
import { RequestError } from '../errors/request-error.ts';
import type { InterfaceVersion } from './serve-contract.ts';

/**
 * Returns the version that the header names, otherwise the version that the client is pinned to. Never substitutes another.
 *
 * @param named the value of the version header, as in `headers` of node:http. Undefined if it was not sent.
 * @throws {RequestError} if the version is unknown, retired or past its sunset date.
 */
export function chooseVersion<Version extends Pick<InterfaceVersion, 'version' | 'status' | 'sunsetOn'>>(
  versions: readonly Version[],
  named: string | string[] | undefined,
  pinned: string,
  now: Date,
): Version {
  const wanted = named ?? pinned;
  const chosen = versions.find(({ version }) => version === wanted);
  if (chosen && !isRetired(chosen, now)) return chosen;
  const supportedVersions = versions.filter((each) => !isRetired(each, now)).map(({ version }) => version);
  throw new RequestError('UNSUPPORTED_SCHEMA_VERSION', {
    message: `The requested schema version is not served. Supported versions: ${supportedVersions.join(', ')}.`,
    extensions: { supportedVersions },
  });
}
