import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import {
  createPortalLinkOfAccount,
  issueCredential,
  listCredentials,
  systemRandom,
  type OperatorContext,
} from '@deedwire/actions';
import { parseApiKey } from '@deedwire/auth';
import { requestHeaders, type Service } from '@deedwire/core';
import { createStore, type Store } from '@deedwire/store';
import type { DevAccount } from './dev-state.ts';

/** The context of an operator who seeds a database. */
export function seedContext(service: Service, store: Store, gidNamespace: string): OperatorContext {
  const operator = { name: 'seed', host: hostname(), requestId: randomUUID() };
  return { store, service, gidNamespace, now: () => new Date(), random: systemRandom, operator };
}

/** Opens a store for the work of this operator, and closes it afterwards. */
export async function withSeedContext<Result>(
  service: Service,
  { databaseUrl, gidNamespace }: { databaseUrl: string; gidNamespace: string },
  work: (context: OperatorContext) => Promise<Result>,
): Promise<Result> {
  const store = createStore({ databaseUrl, tables: service.tables, applicationName: 'deedwire-dev' });
  try {
    return await work(seedContext(service, store, gidNamespace));
  } finally {
    await store.close();
  }
}

/** @param id global identifier of the account */
export async function withNewCredential<Name extends string>(
  context: OperatorContext,
  interfaceName: Name,
  id: string,
): Promise<DevAccount & { interfaceName: Name }> {
  const credential = await issueCredential(context, { interfaceName, accountId: id, clientId: null });
  return { interfaceName, id, credential };
}

/** Returns the account with a valid credential: a revoked or expired one is replaced by a new one. */
export async function withLiveCredential(context: OperatorContext, account: DevAccount): Promise<DevAccount> {
  const { interfaceName, id, credential } = account;
  const keyId = parseApiKey(context.service, credential.apiKey)?.keyId;
  const now = new Date();
  const live = (await listCredentials(context, { interfaceName, accountId: id })).some(
    (key) => key.keyId === keyId && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now),
  );
  return live ? account : withNewCredential(context, interfaceName, id);
}

/** The headers that identify an account to its interface. */
export function headersOf(service: Service, { credential }: Pick<DevAccount, 'credential'>): Record<string, string> {
  const names = requestHeaders(service);
  return {
    [names.clientId]: credential.clientId,
    [names.apiKey]: credential.apiKey,
    [names.organizationId]: credential.organizationId,
  };
}

/** A link to the portal of an account, with all abilities that do not change its keys, for ten minutes. */
export async function createDevPortalLink(
  context: OperatorContext,
  { id: accountId }: Pick<DevAccount, 'id'>,
  portalOrigin: string,
): Promise<string> {
  const abilities = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'] as const;
  const input = { accountId, abilities, actor: 'dev', expiresInSeconds: 600 };
  return (await createPortalLinkOfAccount({ ...context, portalOrigin }, input)).url;
}
