import type { IncomingMessage } from 'node:http';
import type { InterfaceName } from '@deedwire/domain';
import type { HandlerContext } from '@deedwire/service-runtime';
import type { CostBuckets } from '../cost/bucket.ts';
import { RequestAccount, type SharedByClients } from '../cost/request-account.ts';
import { requestLimits } from '../request-limits.ts';
import { PluginRefusedError } from './guard-plugin.ts';
import { RequestState, type ServedVersion } from './request-state.ts';

const query = 'query Start { __typename }';

/**
 * Sends an operation through the whole pipeline before the first request, so that an app does not start with a plugin that is
 * refused, and plugins have wrapped the resolvers of the schema. The operation has a client that no key belongs to, costs nothing,
 * and has no line in the log. A plugin can refuse it as it refuses others.
 *
 * @throws {PluginRefusedError} if a plugin replaces a part of the contract
 */
export async function sendProbe(
  respond: (state: RequestState) => Promise<unknown>,
  { version }: ServedVersion,
  { path, interfaceName }: { path: string; interfaceName: InterfaceName },
): Promise<void> {
  const state = new RequestState(messageTo(path), httpOfProbe, { error: () => '' });
  state.client = {
    interfaceName,
    clientId: 'start',
    accountId: '0',
    schemaVersion: version,
    costLimit: { maximum: 1, restoreRate: 1 },
  };
  state.account = new RequestAccount(shareOfProbe, state.client, state);
  await respond(state);
  const refusal = state.causes.find((cause) => cause instanceof PluginRefusedError);
  if (refusal) throw refusal;
}

function messageTo(path: string): IncomingMessage {
  const body = [Buffer.from(JSON.stringify({ query }))];
  const headers = { 'content-type': 'application/json' };
  const rawHeaders = Object.entries(headers).flat();
  const read = (): Buffer | null => body.shift() ?? null;
  const message = { method: 'POST', url: path, headers, rawHeaders, complete: true, read, readableLength: 0 };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- has what our plugins use
  return message as unknown as IncomingMessage;
}

export const httpOfProbe: HandlerContext = {
  requestId: 'start',
  address: '127.0.0.1',
  ready: true,
  acceptBody() {},
  authenticated: () => null,
  drop() {},
  isOpen: () => true,
  whenClosed: () => () => {},
  async waitWhileOpen() {},
};

const throttleStatus = { maximumAvailable: 1, currentlyAvailable: 1, restoreRate: 1 };

/** A bucket that is always full. */
const buckets: CostBuckets = {
  status: () => ({ ...throttleStatus, nextPointMs: 1 }),
  charge: () => ({ admitted: true, throttleStatus, end() {} }),
  knownRejection: () => null,
  deduct() {},
  refund: () => throttleStatus,
  sweep() {},
};

const shareOfProbe: SharedByClients = {
  buckets,
  turns: async () => () => {},
  slots: () => () => {},
  limits: requestLimits,
};
