import { formatAccountGid, type InterfaceName, parseAccountGid, parseGid } from '@deedwire/domain';
import {
  type AccountRow,
  insertAccount,
  lockAccount,
  organizationExists,
  selectAccount,
  updateAccountName,
} from '@deedwire/store/accounts';
import { appendEvent } from './append-event.ts';
import { nameOperator } from './audit.ts';
import type { ActionContext, Caller, LenderContext, OperatorContext } from './context.ts';
import { RefusedError } from './errors.ts';
import { checkName } from './organizations.ts';

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
export async function createLender(
  context: OperatorContext,
  input: { organizationId: string; name: string },
): Promise<Lender> {
  return createAccount(context, 'lender', input);
}

/** @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the organization does not exist */
export async function createPartner(
  context: OperatorContext,
  input: { organizationId: string; name: string },
): Promise<Partner> {
  return createAccount(context, 'partner', input);
}

/** @throws {RefusedError} `INVALID` if the name is blank or too long, `NOT_FOUND` if the organization does not exist */
async function createAccount(
  context: OperatorContext,
  interfaceName: InterfaceName,
  input: { organizationId: string; name: string },
): Promise<{ id: string; name: string }> {
  checkName(input.name);
  const organizationId = parseGid(context.gidNamespace, 'Organization', input.organizationId);
  if (organizationId === null || !(await organizationExists(context.store, organizationId))) {
    throw new RefusedError('NOT_FOUND', `The organization ${input.organizationId} does not exist.`);
  }
  return context.store.transaction(async (transaction) => {
    await nameOperator(transaction, context.operator, `${interfaceName}.create`);
    const account = await insertAccount(transaction, { interfaceName, organizationId, name: input.name });
    return { id: formatAccountGid(context.gidNamespace, interfaceName, account.id), name: account.name };
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
  const id = parseGid(context.gidNamespace, 'Lender', input.lenderId);
  await context.store.transaction(async (transaction) => {
    const account = id === null ? null : await lockAccount(transaction, 'lender', id);
    if (account === null) throw new RefusedError('NOT_FOUND', `The lender ${input.lenderId} does not exist.`);
    if (account.name === input.name) return;
    await nameOperator(transaction, context.operator, 'lender.update');
    await updateAccountName(transaction, account.id, input.name);
    await appendEvent(transaction, account, 'lender.updated', { lender: { id: input.lenderId, name: input.name } });
  });
  return { id: input.lenderId, name: input.name };
}

/** The calling lender, without the fields that must be read. */
export interface OwnLender {
  id: string;
}

export function ownLender({ gidNamespace }: LenderContext, caller: Caller): OwnLender {
  return { id: formatAccountGid(gidNamespace, 'lender', caller.accountId) };
}

export async function readLenderName({ lenders }: LenderContext, caller: Caller): Promise<string> {
  return lenders.readName(caller.accountId);
}

/** The calling partner. */
export async function readPartner(context: ActionContext, caller: Caller): Promise<Partner> {
  const account = await readOwnAccount(context, caller);
  return { id: formatAccountGid(context.gidNamespace, account.interfaceName, account.id), name: account.name };
}

/** The account of the caller, which exists: accounts are never deleted. */
async function readOwnAccount(context: ActionContext, caller: Caller): Promise<AccountRow> {
  const account = await selectAccount(context.store, caller.interfaceName, caller.accountId);
  if (account === null) throw new Error(`Account ${caller.accountId} has credentials but does not exist.`);
  return account;
}

/**
 * The account with this global identifier.
 *
 * @throws {RefusedError} `NOT_FOUND` if the interface has no such account
 */
export async function findAccount(
  context: ActionContext,
  interfaceName: InterfaceName,
  gid: string,
): Promise<AccountRow> {
  const id = parseAccountGid(context.gidNamespace, interfaceName, gid);
  const account = id === null ? null : await selectAccount(context.store, interfaceName, id);
  if (account === null) throw new RefusedError('NOT_FOUND', `The ${interfaceName} ${gid} does not exist.`);
  return account;
}
