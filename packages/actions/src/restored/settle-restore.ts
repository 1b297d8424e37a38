import { AccountAwayError, type AdvancedSequence, selectGroupRoles, selectSequences } from '@deedwire/store';
import { requireNoApp } from '@deedwire/store/copies';
import { lockApiClient } from '@deedwire/store/credentials';
import { countAllPortalSessions, endAllPortalSessions } from '@deedwire/store/portal-sessions';
import {
  type DatabaseIdentity,
  disableLogin,
  disableLoginSql,
  type LoginRow,
  selectDatabaseIdentity,
  selectLogins,
} from '@deedwire/store/restored-database';
import { findAccount } from '../accounts/accounts.ts';
import { advanceAllSequences, type LastNumbers } from '../database/database.ts';
import { requireNoSplit } from '../database/split-cell.ts';
import { appendAuditEntry, nameOperator } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';
import { RefusedError } from '../kernel/errors.ts';
import type { OnProgress } from '../kernel/unhurried.ts';
import { erasePerson } from '../persons/erase-person.ts';
import type { ListedVerb, RepeatedVerb } from './audit-effects.ts';
import type { LostChange, LostChanges } from './lost-changes.ts';
import { type Deletions, isMoot, isRepeated, repeatChange } from './repeat-change.ts';

/** What is open until it is done or waived. */
export interface RestoreItem {
  id: string;
  verb: ListedVerb | RepeatedVerb | 'know' | 'login';
  subject: string;
  /** The account of the record. Null if there is none. */
  accountId: string | null;
  /** The client of a key. */
  clientId: string | null;
  at: Date | null;
  /** Why it was not repeated. Null if that is not what the command does. */
  reason: string | null;
}

export interface RestoreReport {
  /** How many entries of each action the database lacks. */
  lost: Record<string, number>;
  /** The links and sessions of the portal that were ended. Null: an earlier run has ended them. */
  endedSessions: number | null;
  repeated: { id: string; at: Date | null }[];
  open: RestoreItem[];
  waived: string[];
  advanced: AdvancedSequence[];
}

/** The database as it was before the restore. */
export interface OldDatabase {
  identity: DatabaseIdentity;
  logins: LoginRow[];
  /** The last ones of the sequences of the application. */
  numbers: LastNumbers;
}

export async function readOldDatabase({ store, service }: ActionContext): Promise<OldDatabase> {
  const sequences = await selectSequences(store);
  const lastNumberOf = (sequence: string): string => sequences.find(({ name }) => name === sequence)?.lastNumber ?? '0';
  return {
    identity: await selectDatabaseIdentity(store),
    logins: await selectLogins(store, await selectGroupRoles(store, service)),
    numbers: Object.fromEntries(Object.keys(service.sequences).map((name) => [name, lastNumberOf(name)])),
  };
}

/** @throws {Error} if the old database is this one or another one's, a split is open, or an app uses the database */
export async function checkRestored(
  { store }: OperatorContext,
  { old, besideApps }: { old: OldDatabase | null; besideApps: boolean },
): Promise<void> {
  const own = await selectDatabaseIdentity(store);
  if (old !== null && old.identity.installationId !== own.installationId) {
    const found = `this one is of the installation ${own.installationId}, that one of ${old.identity.installationId}`;
    throw new RefusedError(
      'CONFLICT',
      `The old database is not of this installation: ${found}. Pass the URL of the old one.`,
    );
  }
  if (
    old !== null &&
    old.identity.startedAt.getTime() === own.startedAt.getTime() &&
    old.identity.lineage === own.lineage
  )
    throw new RefusedError('CONFLICT', 'The URL of the old database leads to this one. Pass the URL of the old one.');
  await requireNoSplit(store);
  if (besideApps) return;
  await requireNoApp(store).catch((error: unknown) => {
    if (!hasCode(error, raisedException)) throw error;
    throw new RefusedError('CONFLICT', `${error.message} After a failover, pass --failover.`);
  });
}

export interface SettleOptions {
  changes: LostChanges;
  /** Null if only exports are left of it. */
  old: OldDatabase | null;
  /** The time of the last entry of the exports. Null: all is known. */
  knownUntil: Date | null;
  /** Ids of items that need not be done. */
  waive: ReadonlySet<string>;
  /** Changes nothing. */
  isDryRun: boolean;
  /** The highest that clients may have. */
  numbers: LastNumbers;
  deletions: Deletions;
  directUrl: string;
  onProgress: OnProgress;
}

const nothingLost = itemOf('know', 'nothing-lost');

/**
 * Makes lost changes again, records what is waived, and advances the sequences. What is left is open. Idempotent.
 *
 * @throws {RefusedError} `CONFLICT` if nothing is lost, unless that is waived
 */
export async function settleRestore(context: OperatorContext, options: SettleOptions): Promise<RestoreReport> {
  const { changes, old, knownUntil, isDryRun } = options;
  const isWaived = ({ id }: RestoreItem): boolean => options.waive.has(id);
  const wasWaived = ({ id }: RestoreItem): boolean => changes.wasMade('database.waive', id);
  const isNothingLost = changes.counts.size === 0;
  if (isNothingLost && !isWaived(nothingLost) && !wasWaived(nothingLost))
    throw new RefusedError(
      'CONFLICT',
      old === null
        ? `The exports have no entry that this database lacks. Nothing was changed. Check that DATABASE_URL leads to the restored database, and pass all exports. If nothing was lost, pass --waive ${nothingLost.id}.`
        : `The other database has no entry that this one lacks: it is a copy of this one or a standby, not what was before the restore. Nothing was changed. Check the URL. If nothing was lost, pass --waive ${nothingLost.id}.`,
    );
  const endedSessions = await endSessions(context, changes, isDryRun);
  const repeated: RestoreReport['repeated'] = [];
  const found: RestoreItem[] = isNothingLost ? [nothingLost] : [];
  for (const change of changes.changes()) {
    const { id, verb, at } = change;
    options.onProgress(`Settling ${id}`);
    const settled = await settle(context, options, change);
    if (settled === 'repeated') repeated.push({ id, at });
    else if (settled !== 'done')
      found.push({ id, verb, at, ...(await describe(context, change)), reason: settled.reason });
  }
  if (old !== null) await settleLogins(context, old, { isDryRun, repeated, found });
  else found.push(itemOf('know', 'logins'));
  if (knownUntil !== null) found.push({ ...itemOf('know', knownUntil.toISOString()), at: knownUntil });

  const waived = found.filter((item) => wasWaived(item) || isWaived(item));
  const decided = isDryRun ? [] : waived.filter((item) => !wasWaived(item));
  if (decided.length > 0)
    await context.store.transaction(async (transaction) => {
      for (const { id } of decided)
        await appendAuditEntry(transaction, context.operator, { action: 'database.waive', subject: id, account: null });
    });
  const numbers = Object.keys(context.service.sequences).map((name): [string, string] => {
    const known = [old?.numbers[name], options.numbers[name]].filter((number) => number !== undefined).map(BigInt);
    return [name, known.reduce((highest, number) => (number > highest ? number : highest), 0n).toString()];
  });
  return {
    lost: Object.fromEntries(changes.counts),
    endedSessions,
    repeated,
    open: found.filter((item) => !wasWaived(item) && !isWaived(item)),
    waived: waived.map(({ id }) => id),
    advanced: isDryRun ? [] : await advanceAllSequences(context, Object.fromEntries(numbers)),
  };
}

function itemOf(verb: RestoreItem['verb'], subject: string): RestoreItem {
  return { id: `${verb}:${subject}`, verb, subject, accountId: null, clientId: null, at: null, reason: null };
}

/** What the command for an item needs. Of a lost key also what is not lost: its client, and its account. */
async function describe(
  context: OperatorContext,
  change: LostChange,
): Promise<Pick<RestoreItem, 'subject' | 'accountId' | 'clientId'>> {
  const { verb, subject, accountId, clientId = null } = change;
  if (verb !== 'issue' || clientId === null) return { subject, accountId, clientId };
  const hasClient = (await lockApiClient(context.store, clientId)) !== null;
  const hasAccount = accountId !== null && (await isAccount(context, accountId));
  return { subject, accountId: hasAccount ? accountId : null, clientId: hasClient ? clientId : null };
}

async function isAccount(context: OperatorContext, accountId: string): Promise<boolean> {
  try {
    await findAccount(context, null, accountId);
    return true;
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'NOT_FOUND') return false;
    throw error;
  }
}

/** Once for each database: people sign in again later. */
async function endSessions(
  { store, operator }: OperatorContext,
  changes: LostChanges,
  isDryRun: boolean,
): Promise<number | null> {
  const { lineage } = await selectDatabaseIdentity(store);
  if (changes.wasMade('database.restored', lineage)) return null;
  if (isDryRun) return countAllPortalSessions(store);
  return store.transaction(async (transaction) => {
    await nameOperator(transaction, operator, 'database.restored');
    const sessions = await endAllPortalSessions(transaction);
    const details = { sessions, lost: Object.fromEntries(changes.counts) };
    const entry = { action: 'database.restored', subject: lineage, account: null, details };
    await appendAuditEntry(transaction, operator, entry);
    return sessions;
  });
}

async function settle(
  context: OperatorContext,
  options: SettleOptions,
  lost: LostChange,
): Promise<'done' | 'repeated' | { reason: string | null }> {
  try {
    if (lost.verb === 'erase') return (await isErased(context, options, lost)) ? 'done' : { reason: null };
    const change = options.changes.remaining(lost);
    if (change === null) return 'done';
    if (!isRepeated(change)) return (await isMoot(context, change)) ? 'done' : { reason: null };
    return (await repeatChange(context, change, options)) ? 'repeated' : 'done';
  } catch (error) {
    if (error instanceof RefusedError || error instanceof AccountAwayError) return { reason: error.message };
    throw error;
  }
}

async function isErased(
  context: OperatorContext,
  options: SettleOptions,
  { subject: record, accountId }: LostChange,
): Promise<boolean> {
  const { directUrl, onProgress } = options;
  let isKept = false;
  const onFound: Parameters<typeof erasePerson>[2]['onFound'] = ({ tables, unfinished }) => {
    isKept = tables.length > 0 || unfinished.some((open) => open.recordId === record && open.accountId === accountId);
  };
  try {
    const person = { record, address: undefined, accountId: accountId ?? undefined };
    await erasePerson(context, person, { isDryRun: true, directUrl, onProgress, onFound });
  } catch (error) {
    if (!(error instanceof RefusedError && error.code === 'NOT_FOUND')) throw error;
  }
  return !isKept;
}

/** Of PostgreSQL. */
const insufficientPrivilege = '42501';
const raisedException = 'P0001';

function hasCode(error: unknown, code: string): error is Error {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Disables the logins that the old server had disabled. Only lists those that it did not have: a new server can have new ones. */
async function settleLogins(
  { store, service, operator }: OperatorContext,
  old: OldDatabase,
  { isDryRun, repeated, found }: { isDryRun: boolean; repeated: RestoreReport['repeated']; found: RestoreItem[] },
): Promise<void> {
  const before = new Map(old.logins.map((login) => [login.name, login]));
  const logins = await selectLogins(store, await selectGroupRoles(store, service));
  for (const { name, isOfApp } of logins.filter(({ canLogIn }) => canLogIn)) {
    const login = before.get(name);
    const item = itemOf('login', name);
    if (login?.canLogIn === false) {
      try {
        if (!isDryRun)
          await store.transaction(async (transaction) => {
            await disableLogin(transaction, name);
            await appendAuditEntry(transaction, operator, {
              action: 'database.disable-login',
              subject: name,
              account: null,
            });
          });
        repeated.push({ id: item.id, at: null });
      } catch (error) {
        if (!hasCode(error, insufficientPrivilege)) throw error;
        found.push({ ...item, reason: `${error.message}. Run: ${disableLoginSql(name).join('; ')};` });
      }
    } else if (isOfApp && login?.isOfApp !== true) found.push(item);
  }
}
