import { isRetired } from '@deedwire/core';
import { RequestError } from '../errors/request-error.ts';
import { present, type RequestState, type ServedVersion } from '../request-state.ts';
import type { UseCounter } from '../use/use-counter.ts';

export interface VersionOptions {
  versions: readonly ServedVersion[];
  /** The header in which a client names a version. */
  header: string;
  now: () => Date;
  countUse: UseCounter['count'];
}

/** Of the version that a client sent, in the message. Longer than a version. */
const shownCharacters = 32;

/**
 * Returns a function that chooses the dated version of the interface: the one that the header names, otherwise the one that the client is
 * pinned to; in the portal that of its pages. Never another.
 */
export function createVersionStep({ versions, header, now, countUse }: VersionOptions) {
  const lowerCaseHeader = header.toLowerCase();

  /** Where the version comes from, for the message: a client that sends no header does not know its pin. */
  function sourceOf({ portal, message }: RequestState): string {
    if (portal) return 'of the portal';
    return message.headers[lowerCaseHeader] === undefined ? 'pinned on your API client' : `in ${header}`;
  }

  function notServed(state: RequestState, wanted: string): RequestError {
    const served = versions.filter((version) => !isRetired(version, now()));
    const supportedVersions = served.map(({ version }) => version);
    const found = `The schema version ${JSON.stringify(wanted.slice(0, shownCharacters))}, ${sourceOf(state)}, is not served.`;
    return new RequestError('UNSUPPORTED_SCHEMA_VERSION', {
      message: `${found} Send one of these in ${header}: ${supportedVersions.join(', ')}.`,
      extensions: { supportedVersions },
    });
  }

  /** @throws {RequestError} if the version is not served */
  return (state: RequestState): ServedVersion => {
    const { client } = present(state.caller);
    const wanted = state.portal?.version ?? state.message.headers[lowerCaseHeader] ?? client.schemaVersion;
    const chosen = versions.find(({ version }) => version === wanted);
    if (!chosen || isRetired(chosen, now())) throw notServed(state, String(wanted));
    countUse(client.clientId, chosen.version, '');
    return (state.version = chosen);
  };
}
