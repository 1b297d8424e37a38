import {
  formatAccountGid,
  type InterfaceName,
  interfaceOf,
  isRetired,
  operationCostPoints,
  portalClientPattern,
  type Service,
} from '@deedwire/core';
import {
  type ListedApiClientRow,
  lockApiClient,
  selectApiClientId,
  selectApiClients,
  updateApiClientCostLimit,
  updateApiClientVersion,
} from '@deedwire/store/credentials';
import { nameOperator } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import { formatCursor, keysetPage, orderOfIds, type Page, type PageRequest } from '../kernel/page.ts';
import { findAccount } from './accounts.ts';

/** An API client, without its keys. */
export interface Client extends Omit<ListedApiClientRow, 'accountId' | 'id'> {
  /** The global identifier of the account. */
  accountId: string;
}

/**
 * API clients, newest first.
 *
 * @param request.accountId the global identifier of an account. Null for the clients of all accounts.
 * @throws {RefusedError} `NOT_FOUND` if the account does not exist
 */
export async function listClients(
  context: ActionContext,
  request: PageRequest & { accountId: string | null },
): Promise<Page<Client>> {
  const account = request.accountId === null ? null : await findAccount(context, null, request.accountId);
  return keysetPage(
    orderOfIds<'ApiClient'>('clients'),
    request,
    ({ after, limit }) => selectApiClients(context.store, account?.id ?? null, { afterId: after, limit }),
    (row) => ({
      clientId: row.clientId,
      accountId: formatAccountGid(context, row.interfaceName, row.accountId),
      interfaceName: row.interfaceName,
      schemaVersion: row.schemaVersion,
      costMaximum: row.costMaximum,
      costRestoreRate: row.costRestoreRate,
      liveKeys: row.liveKeys,
      lastUsedAt: row.lastUsedAt,
      createdAt: row.createdAt,
    }),
  );
}

/**
 * The cursor of a client in the list, for operators, who continue the list after a client.
 *
 * @throws {RefusedError} `NOT_FOUND` if the client does not exist
 */
export async function cursorOfClient({ store }: ActionContext, clientId: string): Promise<string> {
  const id = await selectApiClientId(store, clientId);
  if (id === null) throw new RefusedError('NOT_FOUND', `The client ${clientId} does not exist.`);
  return formatCursor('clients', id);
}

/**
 * Pins a client to an interface version: the version of its requests that name none. Every process serves it within a second.
 *
 * @throws {RefusedError} `NOT_FOUND` if the client does not exist, `INVALID` if the version is unknown or retired, or the client is that of
 * the portal
 */
export async function pinClient(
  context: OperatorContext,
  input: { clientId: string; schemaVersion: string },
): Promise<{ clientId: string; schemaVersion: string; previousSchemaVersion: string }> {
  const previousSchemaVersion = await context.store.transaction(async (transaction) => {
    const client = await lockApiClient(transaction, input.clientId);
    if (client === null) throw new RefusedError('NOT_FOUND', `The client ${input.clientId} does not exist.`);
    checkNotOfPortal(context, input.clientId);
    checkInterfaceVersion(context, client.interfaceName, input.schemaVersion);
    await nameOperator(transaction, context.operator, 'client.pin');
    await updateApiClientVersion(transaction, client.id, input.schemaVersion);
    return client.schemaVersion;
  });
  return { ...input, previousSchemaVersion };
}

/** @throws {RefusedError} `INVALID` for the client of the portal of an account: it has no keys, and the version of its pages */
export function checkNotOfPortal({ service }: ActionContext, clientId: string): void {
  if (new RegExp(portalClientPattern(service)).test(clientId))
    throw new RefusedError('INVALID', `The client ${clientId} belongs to the portal. Pass another client.`);
}

interface ClientLimit {
  clientId: string;
  /** The cost points of a full bucket. */
  maximum: number;
  /** Points per second. */
  restoreRate: number;
}

const numberMax = 1_000_000_000;

/**
 * Sets how many cost points a client has. Every process applies it within a second.
 *
 * @param input.maximum 1,000 to 1,000,000,000 points
 * @param input.restoreRate 1 to 1,000,000,000 points per second
 * @throws {RefusedError} `NOT_FOUND` if the client does not exist, `INVALID` if a number is not a whole one in its range
 */
export async function setClientLimit(
  context: OperatorContext,
  input: ClientLimit,
): Promise<ClientLimit & { previousMaximum: number; previousRestoreRate: number }> {
  const { clientId, maximum, restoreRate } = input;
  // The most expensive operation has to fit into a full bucket.
  checkNumber('maximum', maximum, operationCostPoints);
  checkNumber('restore rate', restoreRate, 1);
  return context.store.transaction(async (transaction) => {
    const client = await lockApiClient(transaction, clientId);
    if (client === null) throw new RefusedError('NOT_FOUND', `The client ${clientId} does not exist.`);
    await nameOperator(transaction, context.operator, 'client.set-limit');
    await updateApiClientCostLimit(transaction, client.id, { maximum, restoreRate });
    const previous = { previousMaximum: client.costMaximum, previousRestoreRate: client.costRestoreRate };
    return { clientId, maximum, restoreRate, ...previous };
  });
}

function checkNumber(name: string, value: number, min: number): void {
  if (Number.isInteger(value) && value >= min && value <= numberMax) return;
  const range = `${min.toLocaleString('en')} to ${numberMax.toLocaleString('en')}`;
  throw new RefusedError('INVALID', `The ${name} must be a whole number from ${range}; it is ${value}.`);
}

/** The version that a new client is pinned to by default: the latest with the status `current`. */
export function currentInterfaceVersion(service: Service, interfaceName: InterfaceName): string {
  const current = interfaceOf(service, interfaceName).versions.findLast(({ status }) => status === 'current');
  if (current === undefined) throw new Error(`The ${interfaceName} interface has no current version.`);
  return current.version;
}

/** @throws {RefusedError} `INVALID` if the version is unknown or retired */
export function checkInterfaceVersion(
  { service, now }: ActionContext,
  interfaceName: InterfaceName,
  version: string,
): void {
  const at = now();
  const served = interfaceOf(service, interfaceName)
    .versions.filter((known) => !isRetired(known, at))
    .map((known) => known.version);
  if (!served.includes(version)) {
    throw new RefusedError(
      'INVALID',
      `The ${interfaceName} interface has no version ${version}. It has: ${served.join(', ')}.`,
    );
  }
}
