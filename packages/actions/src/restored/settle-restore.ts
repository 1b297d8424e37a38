import { AccountAwayError, groupRoles, type AdvancedSequence, selectSequences } from '@deedwire/store';
import { requireNoApp } from '@deedwire/store/copies';
import { endAllPortalSessions } from '@deedwire/store/portal-sessions';
import {
  type DatabaseIdentity,
  disableLogin,
  disableLoginSql,
  type LoginRow,
  selectDatabaseIdentity,
  selectLogins,
} from '@deedwire/store/restored-database';
import { appendAuditEntry, nameOperator } from '../audit.ts';
import type { ActionContext, OperatorContext } from '../context.ts';
import { advanceAllSequences } from '../database.ts';
import { erasePerson } from '../erase-person.ts';
import { RefusedError } from '../errors.ts';
import { requireNoSplit } from '../split-cell.ts';
import type { OnProgress } from '../unhurried.ts';
import type { ListedVerb, LostChange, LostChanges, RepeatedVerb } from './lost-changes.ts';
import { isRepeated, repeatChange } from './repeat-change.ts';

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
  matterNumber: string;
}

export async function readOldDatabase({ store }: ActionContext): Promise<OldDatabase> {
  const sequences = await selectSequences(store);
  return {
    identity: await selectDatabaseIdentity(store),
    logins: await selectLogins(store, groupRoles),
    matterNumber: sequences.find(({ name }) => name === 'matter_number')?.lastNumber ?? '0',
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
  waive: readonly string[];
  /** The highest that clients may have. */
  matterNumber: string | undefined;
  directUrl: string;
  onProgress: OnProgress;
}

/** Makes lost changes again, records what is waived, and advances the sequences. What is left is open. Idempotent. */
export async function settleRestore(context: OperatorContext, options: SettleOptions): Promise<RestoreReport> {
  const { changes, old, knownUntil } = options;
  const endedSessions = await endSessions(context, changes);
  const repeated: RestoreReport['repeated'] = [];
  const found: RestoreItem[] = [];
  for (const change of changes.changes()) {
    const { id, verb, subject, accountId, clientId = null, at } = change;
    options.onProgress(`Settling ${id}`);
    const settled = await settle(context, options, change);
    if (settled === 'repeated') repeated.push({ id, at });
    else if (settled !== 'done') found.push({ id, verb, subject, accountId, clientId, at, reason: settled.reason });
  }
  if (old !== null) await settleLogins(context, old, repeated, found);
  else found.push(itemOf('know', 'logins'));
  if (knownUntil !== null) found.push({ ...itemOf('know', knownUntil.toISOString()), at: knownUntil });

  const wasWaived = ({ id }: RestoreItem): boolean => changes.wasMade('database.waive', id);
  const waived = found.filter((item) => wasWaived(item) || options.waive.includes(item.id));
  for (const { id } of waived.filter((item) => !wasWaived(item)))
    await context.store.transaction((transaction) =>
      appendAuditEntry(transaction, context.operator, { action: 'database.waive', subject: id, account: null }),
    );
  const numbers = [old?.matterNumber, options.matterNumber].filter((number) => number !== undefined).map(BigInt);
  const matterNumber = numbers.reduce((highest, number) => (number > highest ? number : highest), 0n).toString();
  return {
    lost: Object.fromEntries(changes.counts),
    endedSessions,
    repeated,
    open: found.filter((item) => !waived.includes(item)),
    waived: waived.map(({ id }) => id),
    advanced: await advanceAllSequences(context, { matterNumber }),
  };
}

function itemOf(verb: RestoreItem['verb'], subject: string): RestoreItem {
  return { id: `${verb}:${subject}`, verb, subject, accountId: null, clientId: null, at: null, reason: null };
}

/** Once for each database: people sign in again later. */
async function endSessions({ store, operator }: OperatorContext, changes: LostChanges): Promise<number | null> {
  const { lineage } = await selectDatabaseIdentity(store);
  if (changes.wasMade('database.restored', lineage)) return null;
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
  change: LostChange,
): Promise<'done' | 'repeated' | { reason: string | null }> {
  const { verb, subject } = change;
  try {
    if (verb === 'erase') return (await isErased(context, options, subject)) ? 'done' : { reason: null };
    if (options.changes.isSettled(change)) return 'done';
    if (!isRepeated(change)) return { reason: null };
    return (await repeatChange(context, change)) ? 'repeated' : 'done';
  } catch (error) {
    if (error instanceof RefusedError || error instanceof AccountAwayError) return { reason: error.message };
    throw error;
  }
}

async function isErased(context: OperatorContext, options: SettleOptions, record: string): Promise<boolean> {
  const { directUrl, onProgress } = options;
  let isKept = false;
  const onFound: Parameters<typeof erasePerson>[2]['onFound'] = ({ tables, unfinished }) => {
    isKept = tables.length > 0 || unfinished.some(({ recordId }) => recordId === record);
  };
  try {
    const person = { record, address: undefined, accountId: undefined };
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
  { store, operator }: OperatorContext,
  old: OldDatabase,
  repeated: RestoreReport['repeated'],
  found: RestoreItem[],
): Promise<void> {
  const before = new Map(old.logins.map((login) => [login.name, login]));
  for (const { name, isOfApp } of (await selectLogins(store, groupRoles)).filter(({ canLogIn }) => canLogIn)) {
    const login = before.get(name);
    const item = itemOf('login', name);
    if (login?.canLogIn === false) {
      try {
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
