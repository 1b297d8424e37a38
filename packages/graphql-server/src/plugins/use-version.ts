import { isRetired, requestHeaders } from '@deedwire/domain';
import { RequestError } from '../errors/request-error.ts';
import { withDeadline } from '../operation/deadline.ts';
import type { UseCounter } from '../use/use-counter.ts';
import { stateOf, noContext } from './light-fetch.ts';
import { present, type RequestPlugin, type ServedVersion } from './request-state.ts';
import { checkRequest } from './use-request-checks.ts';
import { adopt, refuse } from './use-response.ts';

export interface VersionOptions {
  versions: readonly ServedVersion[];
  now: () => Date;
  operationMs: number;
  responseBytes: number;
  countUse: UseCounter['count'];
}

const versionHeader = requestHeaders.schemaVersion.toLowerCase();

/** Chooses the dated version of the interface, whose Yoga serves the request. */
export function useVersion({ versions, now, operationMs, responseBytes, countUse }: VersionOptions): RequestPlugin {
  /** The version that the header names, otherwise the one that the client is pinned to; in the portal that of its pages. Never another. */
  const choose = checkRequest((state) => {
    const named = state.portal?.version ?? state.message.headers[versionHeader];
    const wanted = named ?? present(state.client).schemaVersion;
    const chosen = versions.find(({ version }) => version === wanted);
    if (!chosen || isRetired(chosen, now())) throw notServed();
    state.version = chosen;
    countUse(present(state.client).clientId, chosen.version, '');
  });

  function notServed(): RequestError {
    const served = versions.filter((version) => !isRetired(version, now()));
    const supportedVersions = served.map(({ version }) => version);
    return new RequestError('UNSUPPORTED_SCHEMA_VERSION', {
      message: `The requested schema version is not served. Supported versions: ${supportedVersions.join(', ')}.`,
      extensions: { supportedVersions },
    });
  }

  async function serve(request: Request): Promise<Response> {
    const state = stateOf(request);
    try {
      const response = await present(state.version).handle(request, noContext);
      if (Object.is(response, state.response)) return response;
      return await withDeadline('The response of a plugin', operationMs, () => adopt(response, state, responseBytes));
    } catch (error) {
      return refuse(state, error);
    } finally {
      // A plugin can end a request before its document is read.
      state.reading?.end(0);
      state.reading = undefined;
    }
  }

  return {
    onRequest(payload) {
      payload.setRequestHandler(serve);
      return choose(payload);
    },
  };
}
