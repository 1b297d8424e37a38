import {
  formatAccountGid,
  formatGid,
  type InterfaceName,
  interfaceNamesOf,
  parseAccountGid,
  parseGid,
  parseRecordId,
  type RecordId,
  describeLength,
  isAccountName,
} from '@deedwire/core';
import type { Database } from '@deedwire/store';
import {
  type AccountRow,
  insertAccount,
  organizationExists,
  selectAccount,
  selectAccounts,
  selectAccountsByExternalId,
  insertOrganization,
  selectOrganizations,
} from '@deedwire/store/accounts';
import { nameOperator, appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, Caller, OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import { keysetPage, orderOfIds, type Page, type PageRequest } from '../kernel/page.ts';

/** @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the organization does not exist */
export async function createAccount(
  context: OperatorContext,
  interfaceName: InterfaceName,
  input: { organizationId: string; name: string },
): Promise<{ id: string; name: string }> {
  checkName(input.name);
  const organizationId = await findOrganization(context, input.organizationId);
  return context.store.transaction(async (transaction) => {
    await nameOperator(transaction, context.operator, `${interfaceName}.create`);
    const account = await insertAccount(transaction, { interfaceName, organizationId, name: input.name });
    return { id: formatAccountGid(context, interfaceName, account.id), name: account.name };
  });
}

/** The account of the caller, which exists: accounts are never deleted. */
export async function readOwnAccount(
  { store }: { store: Database },
  caller: Caller,
): Promise<NonNullable<Awaited<ReturnType<typeof selectAccount>>>> {
  const account = await selectAccount(store, caller.interfaceName, caller.accountId);
  if (account === null) throw new Error(`Account ${caller.accountId} has credentials but does not exist.`);
  return account;
}

/** An account, as operators list it. */
export interface Account {
  id: string;
  interfaceName: InterfaceName;
  /** The id by which an application knows it. Null: an operator has created it. */
  externalId: string | null;
  name: string;
  organizationId: string;
  organizationName: string;
  createdAt: Date;
}

/** A filter that is null does not restrict the list. */
export interface AccountsRequest extends PageRequest {
  interfaceName: InterfaceName | null;
  organizationId: string | null;
  /** A part of the name, in any case. */
  nameContains: string | null;
}

/**
 * The accounts of both interfaces, newest first.
 *
 * @throws {RefusedError} `NOT_FOUND` if the organization does not exist
 */
export async function listAccounts(context: ActionContext, request: AccountsRequest): Promise<Page<Account>> {
  const { interfaceName, nameContains } = request;
  const organizationId =
    request.organizationId === null ? null : await findOrganization(context, request.organizationId);
  return keysetPage(
    orderOfIds<'Account'>('accounts'),
    request,
    ({ after, limit }) =>
      selectAccounts(context.store, { interfaceName, organizationId, nameContains }, { afterId: after, limit }),
    (row) => ({
      id: formatAccountGid(context, row.interfaceName, row.id),
      interfaceName: row.interfaceName,
      externalId: row.externalId,
      name: row.name,
      organizationId: formatGid(context.gidNamespace, 'Organization', row.organizationId),
      organizationName: row.organizationName,
      createdAt: row.createdAt,
    }),
  );
}

/** @throws {RefusedError} `NOT_FOUND` if the organization does not exist */
async function findOrganization(context: ActionContext, gid: string): Promise<RecordId<'Organization'>> {
  const id = parseGid(context.gidNamespace, 'Organization', gid);
  if (id !== null && (await organizationExists(context.store, id))) return id;
  throw new RefusedError('NOT_FOUND', `The organization ${gid} does not exist.`);
}

/**
 * The account with this global identifier, number, or id of the application, for operators.
 *
 * @param interfaceName null: of any interface
 * @throws {RefusedError} `NOT_FOUND` if the interface has no such account, `INVALID` if the id of the application is that of accounts of
 * several interfaces
 */
export async function findAccount(
  context: ActionContext,
  interfaceName: InterfaceName | null,
  account: string,
): Promise<AccountRow> {
  let noun: string = interfaceName ?? 'account';
  const candidates = interfaceName === null ? interfaceNamesOf(context.service) : [interfaceName];
  for (const candidate of candidates) {
    const named = parseAccountGid(context, candidate, account);
    if (named !== null) noun = candidate;
    const id = named ?? parseRecordId(account);
    const found = id === null ? null : await selectAccount(context.store, candidate, id);
    if (found !== null) return found;
  }
  const [found, other] = await selectAccountsByExternalId(context.store, candidates, account);
  if (found === undefined) throw new RefusedError('NOT_FOUND', `The ${noun} ${account} does not exist.`);
  if (other === undefined) return found;
  const gids = [found, other].map(({ interfaceName: of, id }) => formatAccountGid(context, of, id));
  throw new RefusedError('INVALID', `Several interfaces have an account ${account}. Pass ${gids.join(' or ')}.`);
}

export interface Organization {
  id: string;
  name: string;
}

/**
 * All organizations, newest first.
 *
 * @param request.nameContains a part of the name, in any case. Null for all.
 */
export async function listOrganizations(
  context: ActionContext,
  request: PageRequest & { nameContains: string | null },
): Promise<Page<Organization & { createdAt: Date }>> {
  return keysetPage(
    orderOfIds<'Organization'>('organizations'),
    request,
    ({ after, limit }) => selectOrganizations(context.store, request.nameContains, { afterId: after, limit }),
    ({ id, name, createdAt }) => ({ id: formatGid(context.gidNamespace, 'Organization', id), name, createdAt }),
  );
}

/** @throws {RefusedError} `INVALID` if the name is blank or too long */
export async function createOrganization(context: OperatorContext, input: { name: string }): Promise<Organization> {
  checkName(input.name);
  return context.store.transaction(async (transaction) => {
    const row = await insertOrganization(transaction, input.name);
    const id = formatGid(context.gidNamespace, 'Organization', row.id);
    await appendAuditEntry(transaction, context.operator, {
      action: 'organization.create',
      subject: id,
      account: null,
    });
    return { id, name: row.name };
  });
}

/** @throws {RefusedError} `INVALID` if the name of an organization or an account is blank or too long */
export function checkName(name: string): void {
  if (isAccountName(name)) return;
  throw new RefusedError(
    'INVALID',
    `The name must be 1 to 200 characters and not blank. It has ${describeLength(name)}.`,
  );
}
