import {
  changedPaths,
  formatAccountGid,
  formatGid,
  type InterfaceName,
  interfaceNamesOf,
  parseAccountGid,
  parseGid,
  parseRecordId,
  type RecordId,
  toRecordId,
  describeLength,
  isAccountName,
} from '@deedwire/domain';
import { lenderUpdated } from '@deedwire/firm';
import {
  type AccountRow,
  insertAccount,
  lockAccount,
  organizationExists,
  selectAccount,
  selectAccounts,
  updateAccountName,
  insertOrganization,
  selectOrganizations,
} from '@deedwire/store/accounts';
import { appendEvent } from './append-event.ts';
import { nameOperator, appendAuditEntry } from './audit.ts';
import type { ActionContext, Caller, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';
import type { LenderContext } from './lender-reader.ts';
import { keysetPage, orderOfIds, type Page, type PageRequest } from './page.ts';

/** `Lender` of the lender interface, without its members. */
export interface Lender {
  id: string;
  name: string;
}

/** `Partner` of the partner interface. */
export interface Partner {
  id: string;
  name: string;
}

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

/**
 * Renames a lender. Appends `lender.updated`, unless the name stays the same.
 *
 * @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the lender does not exist
 */
export async function updateLender(
  context: OperatorContext,
  input: { lenderId: string; name: string },
): Promise<Lender> {
  checkName(input.name);
  const id = parseAccountGid(context, 'lender', input.lenderId);
  await context.store.transaction(async (transaction) => {
    const account = id === null ? null : await lockAccount(transaction, 'lender', id);
    if (account === null) throw new RefusedError('NOT_FOUND', `The lender ${input.lenderId} does not exist.`);
    const before = { lender: { id: input.lenderId, name: account.name } };
    const after = { lender: { id: input.lenderId, name: input.name } };
    const snapshot = { ...after, changed: changedPaths(before, after) };
    if (snapshot.changed.length === 0) return;
    await nameOperator(transaction, context.operator, 'lender.update');
    await updateAccountName(transaction, account.id, input.name);
    await appendEvent(transaction, account, lenderUpdated, toRecordId(account.id), snapshot);
  });
  return { id: input.lenderId, name: input.name };
}

/** The calling lender, without the fields that must be read. */
export interface OwnLender {
  id: string;
}

export function ownLender(context: ActionContext, caller: Caller): OwnLender {
  return { id: formatAccountGid(context, 'lender', caller.accountId) };
}

export function readLenderName({ lenders }: LenderContext, caller: Caller): Promise<string> {
  return lenders.readName(caller.accountId);
}

/** The calling partner. */
export async function readPartner(context: ActionContext, caller: Caller): Promise<Partner> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context, account.interfaceName, account.id), name: account.name };
}

/** The account of the caller, which exists: accounts are never deleted. */
async function readOwnAccount(context: ActionContext, caller: Caller): Promise<AccountRow> {
  const account = await selectAccount(context.store, caller.interfaceName, caller.accountId);
  if (account === null) throw new Error(`Account ${caller.accountId} has credentials but does not exist.`);
  return account;
}

/** An account, as operators list it. */
export interface Account {
  id: string;
  interfaceName: InterfaceName;
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
    orderOfIds('accounts'),
    request,
    ({ after, limit }) =>
      selectAccounts(context.store, { interfaceName, organizationId, nameContains }, { afterId: after, limit }),
    (row) => ({
      id: formatAccountGid(context, row.interfaceName, row.id),
      interfaceName: row.interfaceName,
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
 * The account with this global identifier or number, for operators.
 *
 * @param interfaceName null: of any interface
 * @throws {RefusedError} `NOT_FOUND` if the interface has no such account
 */
export async function findAccount(
  context: ActionContext,
  interfaceName: InterfaceName | null,
  gid: string,
): Promise<AccountRow> {
  let noun: string = interfaceName ?? 'account';
  for (const candidate of interfaceName === null ? interfaceNamesOf(context.service) : [interfaceName]) {
    const named = parseAccountGid(context, candidate, gid);
    if (named !== null) noun = candidate;
    const id = named ?? parseRecordId(gid);
    const account = id === null ? null : await selectAccount(context.store, candidate, id);
    if (account !== null) return account;
  }
  throw new RefusedError('NOT_FOUND', `The ${noun} ${gid} does not exist.`);
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
    orderOfIds('organizations'),
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
