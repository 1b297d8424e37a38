import { Deadlines } from '@deedwire/store';
import { withDeadline } from '../operation/deadline.ts';
import { chooseVersion } from '../versions/choose-version.ts';
import { checkRequest } from './check-request.ts';
import { present, type RequestPlugin, type ServedVersion } from './exchange.ts';
import { exchangeOf, noContext } from './light-fetch.ts';
import { adopt, refuse } from './use-response.ts';

export interface VersionOptions {
  versions: readonly ServedVersion[];
  now: () => Date;
  limits: { operationMs: number; responseBytes: number };
}

/** Chooses the dated version of the interface, whose Yoga serves the request. */
export function useVersion({ versions, now, limits }: VersionOptions): RequestPlugin {
  const deadlines = new Deadlines(limits.operationMs);
  const choose = checkRequest((exchange) => {
    const named = exchange.message.headers['x-service-schema-version'];
    exchange.version = chooseVersion(versions, named, present(exchange.client).schemaVersion, now());
  });

  async function serve(request: Request): Promise<Response> {
    const exchange = exchangeOf(request);
    try {
      const response = await present(exchange.version).handle(request, noContext);
      if (Object.is(response, exchange.response)) return response;
      return await withDeadline('The response of a plugin', deadlines, () =>
        adopt(response, exchange, limits.responseBytes),
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
