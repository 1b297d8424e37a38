import { isRetired, type InterfaceName } from '@deedwire/domain';
import { versions as lenderVersions } from '@deedwire/lender-schema';
import { versions as partnerVersions } from '@deedwire/partner-schema';
import { RefusedError } from '../errors.ts';

const versionsOf = { lender: lenderVersions, partner: partnerVersions };

/** The version that a new client is pinned to by default: the latest with the status `current`. */
export function currentInterfaceVersion(interfaceName: InterfaceName): string {
  const current = versionsOf[interfaceName].findLast(({ status }) => status === 'current');
  if (current === undefined) throw new Error(`The ${interfaceName} interface has no current version.`);
  return current.version;
}

/** @throws {RefusedError} `INVALID` if the version is unknown or retired */
export function checkInterfaceVersion(interfaceName: InterfaceName, version: string, now: Date): void {
  const served = versionsOf[interfaceName].filter((known) => !isRetired(known, now)).map((known) => known.version);
  if (!served.includes(version)) {
    throw new RefusedError(
      'INVALID',
      `The ${interfaceName} interface has no version ${version}. It has: ${served.join(', ')}.`,
    );
  }
}
