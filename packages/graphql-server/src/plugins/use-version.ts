import { isRetired } from '@deedwire/domain';
import type { Deadlines } from '@deedwire/store';
import { RequestError } from '../errors/request-error.ts';
import { withDeadline } from '../operation/deadline.ts';
import { checkRequest } from './check-request.ts';
import { present, type RequestPlugin, type ServedVersion } from './exchange.ts';
import { exchangeOf, noContext } from './light-fetch.ts';
import { adopt, refuse } from './use-response.ts';

export interface VersionOptions {
  versions: readonly ServedVersion[];
  now: () => Date;
  deadlines: Deadlines;
  responseBytes: number;
}

/** Chooses the dated version of the interface, whose Yoga serves the request. */
export function useVersion({ versions, now, deadlines, responseBytes }: VersionOptions): RequestPlugin {
  /** The version that the header names, otherwise the one that the client is pinned to. Never substitutes another. */
  const choose = checkRequest((exchange) => {
    const wanted = exchange.message.headers['x-service-schema-version'] ?? present(exchange.client).schemaVersion;
    const chosen = versions.find(({ version }) => version === wanted);
    if (!chosen || isRetired(chosen, now())) throw notServed();
    exchange.version = chosen;
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
    const exchange = exchangeOf(request);
    try {
      const response = await present(exchange.version).handle(request, noContext);
      if (Object.is(response, exchange.response)) return response;
      return await withDeadline('The response of a plugin', deadlines, () =>
        adopt(response, exchange, responseBytes),
      );
    } catch (error) {
      return refuse(exchange, error);
    } finally {
      // A plugin can end a request before its document is read.
      exchange.reading?.end(0);
      exchange.reading = undefined;
    }
  }

  return {
    onRequest(payload) {
      payload.setRequestHandler(serve);
      return choose(payload);
    },
  };
}
