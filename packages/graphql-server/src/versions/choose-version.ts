import { isRetired, requestHeaders } from '@deedwire/domain';
import { RequestError } from '../errors/request-error.ts';
import { present, type RequestState, type ServedVersion } from '../request-state.ts';
import type { UseCounter } from '../use/use-counter.ts';

export interface VersionOptions {
  versions: readonly ServedVersion[];
  now: () => Date;
  countUse: UseCounter['count'];
}

const versionHeader = requestHeaders.schemaVersion.toLowerCase();

/**
 * Returns a function that chooses the dated version of the interface: the one that the header names, otherwise the one that the client is
 * pinned to; in the portal that of its pages. Never another.
 */
export function createVersionStep({ versions, now, countUse }: VersionOptions) {
  function notServed(): RequestError {
    const served = versions.filter((version) => !isRetired(version, now()));
    const supportedVersions = served.map(({ version }) => version);
    return new RequestError('UNSUPPORTED_SCHEMA_VERSION', {
      message: `The requested schema version is not served. Supported versions: ${supportedVersions.join(', ')}.`,
      extensions: { supportedVersions },
    });
  }

  /** @throws {RequestError} if the version is not served */
  return (state: RequestState): ServedVersion => {
    const { client } = present(state.caller);
    const wanted = state.portal?.version ?? state.message.headers[versionHeader] ?? client.schemaVersion;
    const chosen = versions.find(({ version }) => version === wanted);
    if (!chosen || isRetired(chosen, now())) throw notServed();
    countUse(client.clientId, chosen.version, '');
    return (state.version = chosen);
  };
}
