import { graphqlSource, type GraphqlPullOptions } from './graphql-pull.ts';
import type { PullSource } from './pull-source.ts';
import type { Pull } from './pulling.ts';
import { reconcile } from './reconcile.ts';
import { reprocess } from './reprocess.ts';

export type { GraphqlPullOptions, PullCredentials } from './graphql-pull.ts';
export { PullError, type PullErrorCode } from './pull-error.ts';

/**
 * The events of a subscription, read with `webhookEvents` of any interface. Pass it to
 * `receiver.reconcile` or `receiver.reprocess`. Requests that fail are repeated: after 429 when `Retry-After` says, after other
 * failures with a backoff of up to 30 seconds.
 *
 * @throws {TypeError} if an option is malformed
 */
export function graphqlPull(options: GraphqlPullOptions): Pull {
  return pullOf(graphqlSource(options));
}

function pullOf(source: PullSource): Pull {
  return {
    subscriptionId: source.subscriptionId,
    reconcile: (target, options) => reconcile(source, target, options),
    reprocess: (target, options) => reprocess(source, target, options),
  };
}
