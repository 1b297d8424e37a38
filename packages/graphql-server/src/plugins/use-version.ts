import { chooseVersion } from '../versions/choose-version.ts';
import { checkRequest } from './check-request.ts';
import { present, type RequestPlugin, type ServedVersion } from './exchange.ts';

/** Chooses the dated version of the interface, whose schema serves the request. */
export function useVersion(versions: readonly ServedVersion[], now: () => Date): RequestPlugin {
  return {
    onRequest: checkRequest((exchange) => {
      const named = exchange.message.headers['x-service-schema-version'];
      exchange.version = chooseVersion(versions, named, present(exchange.client).schemaVersion, now());
    }),
    onEnveloped({ context, setSchema }) {
      setSchema(present(context?.exchange.version).schema);
    },
  };
}
