import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatGid, type RecordId } from '@deedwire/core';
import {
  type CellSession,
  type ChangedCollation,
  type Database,
  selectChangedCollations,
  type Transaction,
} from '@deedwire/store';
import {
  activateNewSide,
  activateOldSide,
  type CellStep,
  type CellServer,
  type CellSplit,
  describeServer,
  freezeHomes,
  insertSplit,
  knowsCell,
  type NewSplit,
  type Patroni,
  selectCell,
  selectCells,
  selectEarlierProcesses,
  selectHomeReaders,
  selectIdleSlots,
  selectOwnOrganizations,
  selectPatroni,
  selectSplit,
  selectStandbys,
  selectStandbysBefore,
  selectSendingMs,
  selectUnquietWorkers,
  storeStep,
  unfreezeHomes,
} from '@deedwire/store/cell-splits';
import { appendAuditEntry } from '../kernel/audit.ts';
import type { ActionContext, OperatorContext } from '../kernel/context.ts';

/** A part of a step: how long it took, and what was found. */
export interface SplitPart {
  part: string;
  ms: number;
  found: string;
}

/** What a step of a split did, or would do. */
export interface SplitReport {
  step: string;
  toCell: number;
  isDryRun: boolean;
  /** Null if the step had been taken before. */
  parts: SplitPart[] | null;
  /** Changes of the map of the proxy, by `activate`. */
  routes: string[];
  /** What to run before `promote` is run again. */
  commands: string[];
}

export interface SplitStep {
  context: Pick<OperatorContext, 'gidNamespace' | 'operator'>;
  oldSide: CellSession;
  isDryRun: boolean;
}

export interface SplitStepOfTwo extends SplitStep {
  newSide: CellSession;
}

/** A standby that lacks more is not current. */
const lagMaxBytes = 64 * 1024 * 1024;
const pollMs = 20;
/** Streaming standbys have flushed what was written before after some milliseconds. */
const standbysMs = 5_000;
/** HAProxy reads lines of at most 16 kB, less what it reserves. */
const routesMaxLength = 15_000;
/** Without the name of the map: `set map  9223372036854775807 1023; `. */
const routeMaxLength = 35;

// The names of the variables, for messages.
const oldUrl = 'DATABASE_DIRECT_URL, or DATABASE_URL without it,';
const newUrl = 'NEW_CELL_DATABASE_URL';
const noSplit = 'No split is open. Run `cell split prepare` first.';

export interface PrepareInput {
  toCell: number;
  /** The organizations on each list. Without a list, those that are not on the other one. */
  leaving: readonly RecordId<'Organization'>[] | null;
  staying: readonly RecordId<'Organization'>[] | null;
  /** Standbys of the old side that must have the freeze, besides those that are connected. */
  standbys: readonly string[];
}

/**
 * Checks both sides, and stores which organizations leave.
 *
 * @throws {Error} with the first problem. Nothing is changed then
 */
export async function prepareSplit(step: SplitStepOfTwo, input: PrepareInput): Promise<SplitReport> {
  const { context, oldSide, newSide, isDryRun } = step;
  const { toCell } = input;
  const timer = createTimer();
  const { old, next } = await describeSides(oldSide, newSide);
  const last = await selectSplit(oldSide);
  const open = last !== null && isOpen(last) ? last : null;
  const own = new Set([...(await selectOwnOrganizations(oldSide)), ...(open?.organizationIds ?? [])]);
  const organizationIds = chooseLeaving(context.gidNamespace, own, input);
  if (open?.toCell === toCell && open.organizationIds.join() === organizationIds.join())
    return report('prepare', open, isDryRun, null);
  refuseIf(open !== null, `A split to the cell ${open?.toCell} is open. Finish it, or run \`cell split abort\`.`);
  const isKnown = await knowsCell(oldSide, toCell);
  refuseIf(isKnown, `The number ${toCell} is in use. Choose one that no cell has had.`);
  const earlier = await selectEarlierProcesses(oldSide);
  const found = `Processes of earlier releases run, which know no freeze: ${earlier.join(', ')}.`;
  refuseIf(earlier.length > 0, `${found} Replace them. One that was killed counts for 3 minutes.`);
  timer.note('organizations', `${organizationIds.length} leave`);

  refuseIf(!next.isStandby, `${newUrl} leads to a server that is no standby. Start one with pg_basebackup -R.`);
  const versions = `The old side has PostgreSQL ${old.version}, the new side ${next.version}.`;
  refuseIf(old.versionNumber !== next.versionNumber, `${versions} Both need the same version.`);
  const [changed] = await selectChangedCollations(newSide);
  if (changed !== undefined) refuseCollation(changed);
  refuseIf(!next.isStreaming, 'The standby does not stream from its primary. Look at its log and its disk.');
  const lagBytes = bytesOf(old.lsn) - bytesOf(next.lsn);
  const lag = `${megabytes(lagBytes)} behind`;
  refuseIf(lagBytes > lagMaxBytes, `The standby is ${lag}. Wait until it is less than ${megabytes(lagMaxBytes)}.`);
  timer.note('standby', `${next.standbyName} streams, ${lag}`);
  const patroni = await selectPatroni(newSide);
  const isMember = patroni?.isStandbyCluster === false && patroni.cluster === (await selectPatroni(oldSide))?.cluster;
  refuseIf(isMember, `Patroni runs ${next.standbyName} as a member of the old side. Start a standby cluster.`);
  const waited = next.synchronousStandbyNames;
  // Patroni writes the names of those that stream from a new primary, and waits for any of them before.
  const isAlone = waited !== '' && (patroni === null || (await selectStandbys(newSide)).length === 0);
  const remedy = patroni === null ? 'Reset synchronous_standby_names' : 'Start another member';
  refuseIf(isAlone, `The new side would wait for ${waited}. ${remedy} there.`);
  timer.note('Patroni', patroni === null ? 'does not run the new side' : `runs the new side as ${patroni.cluster}`);

  const connected = await selectStandbys(oldSide);
  const isWaitedFor = connected.some(({ name, isSynchronous }) => isSynchronous && name === next.standbyName);
  refuseIf(isWaitedFor, `Each commit waits for ${next.standbyName}. Take it out of synchronous_standby_names.`);
  const standbys = connected.map(({ name }) => name);
  const missing = input.standbys.filter((name) => !standbys.includes(name));
  refuseIf(missing.length > 0, `These standbys of the old side do not stream: ${missing.join(', ')}.`);
  const idle = await selectIdleSlots(oldSide);
  refuseIf(idle.length > 0, `Standbys do not use their slots: ${idle.join(', ')}. Start them, or drop the slots.`);
  // The new side is one of `standbys`, because another standby could have its name.
  const others = standbys.filter((_, index) => index !== standbys.indexOf(next.standbyName));
  timer.note('other standbys', others.length === 0 ? 'none' : others.join(', '));
  timer.note('disk of the old side', await checkDisk('old', old));
  timer.note('disk of the new side', await checkDisk('new', next));
  const split = { fromCell: await selectCell(oldSide), toCell, organizationIds, standbys };
  if (!isDryRun) await record(oldSide, step, 'prepare', split, insertSplit);
  return report('prepare', split, isDryRun, timer.parts);
}

function chooseLeaving(
  gidNamespace: string,
  own: ReadonlySet<RecordId<'Organization'>>,
  { leaving, staying }: PrepareInput,
): RecordId<'Organization'>[] {
  const refuseFirst = (
    ids: Iterable<RecordId<'Organization'>>,
    isWrong: (id: RecordId<'Organization'>) => boolean,
    problem: string,
  ) => {
    const id = Array.from(ids).find(isWrong);
    if (id !== undefined)
      throw new Error(`The organization ${formatGid(gidNamespace, 'Organization', id)} ${problem}.`);
  };
  const [leave, stay] = [new Set(leaving), new Set(staying)];
  refuseFirst([...leave, ...stay], (id) => !own.has(id), 'does not exist or is not at home in this cell');
  refuseFirst(leave, (id) => stay.has(id), 'is on both lists');
  const isUnlisted = (id: RecordId<'Organization'>): boolean => !leave.has(id) && !stay.has(id);
  if (leaving !== null && staying !== null) refuseFirst(own, isUnlisted, 'is on neither list');
  const chosen = Array.from(own).filter((id) => (leaving === null ? isUnlisted(id) : leave.has(id)));
  refuseIf(chosen.length === 0, 'No organization leaves.');
  refuseIf(leaving === null && stay.size === 0, 'No organization stays.');
  return chosen;
}

/** What can be known of a server's disk: PostgreSQL does not say how much is free, but this machine can be the server's. */
async function checkDisk(side: string, { isLocal, dataDirectory, maxWalBytes }: CellServer): Promise<string> {
  const stats = isLocal && dataDirectory !== null ? await statfs(dataDirectory).catch(() => null) : null;
  if (stats === null) return 'unknown from here';
  const [free, needed] = [stats.bavail * stats.bsize, Number(maxWalBytes)];
  const found = `${megabytes(free)} free`;
  refuseIf(
    free < needed,
    `The disk of the ${side} side has ${found}. The log can take max_wal_size, ${megabytes(needed)}.`,
  );
  return found;
}

/**
 * Freezes what leaves, and waits until no transaction and no attempt from before is open. If that takes longer than
 * `wait`, in seconds, or `interrupted` is aborted meanwhile, the freeze is undone.
 *
 * @throws {Error} if the split is not prepared, or the wait was too long
 */
export async function freezeSplit(
  step: SplitStep,
  { wait, interrupted }: { wait: number; interrupted: AbortSignal },
): Promise<SplitReport> {
  const { oldSide, isDryRun } = step;
  const timer = createTimer();
  await requirePrimary(oldSide);
  const split = await requireOpen(oldSide);
  if (split.freezeLsn !== null) return report('freeze', split, isDryRun, null);
  timer.note('open transactions', String((await selectHomeReaders(oldSide)).length));
  if (isDryRun) return report('freeze', split, true, timer.parts);
  const isLate = createDeadline(wait * 1000);
  const isOver = (): boolean => interrupted.aborted || isLate();
  try {
    // A round finds the accounts that were created before the last one. The first one waits although nothing is left to freeze: a
    // command that was killed may have frozen it without waiting.
    for (let isFirst = true; ; isFirst = false) {
      const frozenAt = await oldSide.transaction((transaction) => freezeHomes(transaction, split));
      if (frozenAt === null && !isFirst) break;
      let open = await selectHomeReaders(oldSide);
      await poll(isOver, async () => {
        const still = new Map((await selectHomeReaders(oldSide)).map((reader) => [reader.transaction, reader]));
        open = open.flatMap(({ transaction }) => still.get(transaction) ?? []);
        return open[0] && `Nothing is frozen, because a transaction stays open: ${open[0].session}. Try again.`;
      });
    }
    timer.note('transactions', 'none from before the freeze');
    const frozenMs = performance.now();
    const sendingMs = await selectSendingMs(oldSide);
    await poll(isOver, async () => {
      const [worker] = await selectUnquietWorkers(oldSide, performance.now() - frozenMs, sendingMs);
      return (
        worker && `Nothing is frozen, because a worker still has deliveries of it in flight: ${worker}. Try again.`
      );
    });
    timer.note('workers', 'have nothing of it in flight');
    await record(oldSide, step, 'freeze', split);
  } catch (error) {
    await undoFreeze(oldSide);
    throw error;
  }
  timer.note('position', (await requireFrozen(oldSide)).freezeLsn);
  return report('freeze', split, false, timer.parts);
}

async function undoFreeze(oldSide: CellSession): Promise<void> {
  try {
    await oldSide.transaction(unfreezeHomes);
  } catch (cause) {
    const remedy = 'Run `cell split freeze` again, or `cell split abort`.';
    throw new Error(`What leaves may stay frozen. ${remedy}`, { cause });
  }
}

/** Returns whether so much time has passed since. */
function createDeadline(ms: number): () => boolean {
  const deadlineMs = performance.now() + ms;
  return () => performance.now() > deadlineMs;
}

/** Waits until there is no problem. @throws {Error} with the problem once the wait is over */
async function poll(isOver: () => boolean, findProblem: () => Promise<string | undefined>): Promise<void> {
  for (;;) {
    const problem = await findProblem();
    if (problem === undefined) return;
    refuseIf(isOver(), problem);
    await sleep(pollMs);
  }
}

/**
 * Waits until the new side has replayed the freeze, and all standbys of the old side have flushed it.
 *
 * @throws {Error} after `wait`, in seconds
 */
export async function waitForSplit(step: SplitStepOfTwo, { wait }: { wait: number }): Promise<SplitReport> {
  const { oldSide, newSide } = step;
  const timer = createTimer();
  const { next } = await describeSides(oldSide, newSide);
  const split = await requireFrozen(oldSide);
  if (!next.isStandby || split.promotedAt !== null) return report('wait', split, false, null);
  await poll(createDeadline(wait * 1000), () => findLag(step, split));
  timer.note('standbys', `have ${split.freezeLsn}`);
  return report('wait', split, false, timer.parts);
}

/** Who does not have the freeze yet. Undefined if all have it. */
async function findLag({ oldSide, newSide }: SplitStepOfTwo, split: FrozenSplit): Promise<string | undefined> {
  const copy = await selectSplit(newSide);
  if (copy?.id !== split.id || copy.freezeLsn !== split.freezeLsn)
    return 'The new side has not replayed the freeze. Run `cell split wait`.';
  const late = await selectStandbysBefore(oldSide, split.standbys, split.freezeLsn);
  // Those of the new side, which could become its primary.
  late.push(...(await selectStandbysBefore(newSide, [], split.freezeLsn)));
  if (late.length === 0) return undefined;
  return `A failover could forget the freeze: ${late.join(', ')} did not flush it. Run \`cell split wait\`, or abort.`;
}

/**
 * Promotes the new side, or lets Patroni do it, between two calls. Until `activate`, all but this command find it read-only.
 *
 * @param wait for Patroni, in seconds
 * @throws {Error} if the freeze is not on all standbys
 */
export async function promoteSplit(step: SplitStepOfTwo, { wait }: { wait: number }): Promise<SplitReport> {
  const { oldSide, newSide, isDryRun } = step;
  const timer = createTimer();
  let { isStandby } = (await describeSides(oldSide, newSide)).next;
  const split = await requireFrozen(oldSide);
  if (split.promotedAt !== null) return report('promote', split, isDryRun, null);
  const patroni = await selectPatroni(newSide);
  const isLate = createDeadline(patroni === null ? 0 : wait * 1000);
  await poll(isLate, async () => {
    const lag = isStandby ? await findLag(step, split) : undefined;
    // While Patroni promotes it, it does not stream.
    ({ isStandby } = await describeServer(newSide));
    return isStandby ? lag : undefined;
  });
  if (!isStandby) await requireCopy(newSide, split);
  timer.note('freeze', `${split.freezeLsn} is on all standbys`);
  if (isDryRun) return report('promote', split, true, timer.parts);
  await setReadOnly(newSide, true);
  timer.note('read-only', 'for all others');
  if (patroni !== null && isStandby && !patroni.isReadOnly) {
    timer.note('promoted', 'by Patroni, with this command. Then run the step again');
    return { ...report('promote', split, false, timer.parts), commands: [promotionBy(patroni)] };
  }
  if (patroni === null && isStandby) await newSide.run('select pg_promote(true, 600)');
  await poll(isLate, () => findObstacle(newSide));
  timer.note('promoted', 'no longer a standby');
  // From now on in the database, so that a failover does not forget it, and no server has it for ever.
  await setDatabaseReadOnly(newSide, true);
  await setReadOnly(newSide, false);
  await record(oldSide, step, 'promote', split);
  return report('promote', split, false, timer.parts);
}

const promotionBy = ({ cluster }: Patroni): string =>
  `patronictl edit-config ${cluster} --force --set standby_cluster=null`;

/** Why the new side is not a primary, or will not stay one. */
async function findObstacle(newSide: CellSession): Promise<string | undefined> {
  const { isStandby } = await describeServer(newSide);
  const patroni = await selectPatroni(newSide);
  if (!isStandby && patroni?.isStandbyCluster !== true) return undefined;
  if (patroni === null) return `${newUrl} leads to a standby, which PostgreSQL did not promote. Try again.`;
  const state = isStandby ? 'did not promote the standby' : 'would make the new side a standby again';
  return `Patroni ${state}. Run \`${promotionBy(patroni)}\` there, and try again.`;
}

/**
 * Gives the new side its number and both sides their homes, the new side first.
 *
 * @throws {Error} if the new side was not promoted
 */
export async function activateSplit(step: SplitStepOfTwo, { map }: { map: string }): Promise<SplitReport> {
  const { oldSide, newSide, isDryRun } = step;
  const timer = createTimer();
  const { old } = await describeSides(oldSide, newSide);
  const split = await requireSplit(oldSide);
  refuseIf(split.abortedAt !== null, noSplit);
  refuseIf(split.promotedAt === null, 'The new side is not promoted. Run `cell split promote` first.');
  await requireCopy(newSide, split);
  await poll(createDeadline(0), () => findObstacle(newSide));
  timer.note('new side', 'has the freeze');
  const routes = routesOf(split, map);
  if (split.activatedAt !== null) return { ...report('activate', split, isDryRun, null), routes };
  if (isDryRun) return { ...report('activate', split, true, timer.parts), routes };
  if ((await selectCell(newSide)) !== split.toCell) {
    // `abort` after a failover that forgot it would let both sides own what leaves.
    await untilFlushed(oldSide, old.lsn, 'promoted');
    await record(newSide, step, 'activate', split, activateNewSide);
  }
  timer.note('new side', `cell ${split.toCell}`);
  await setDatabaseReadOnly(newSide, false);
  timer.note('read-only', 'no longer');
  await untilFlushed(newSide, (await describeServer(newSide)).lsn, 'active');
  await record(oldSide, step, 'activate', split, activateOldSide);
  timer.note('old side', `${split.organizationIds.length} organizations left`);
  return { ...report('activate', split, false, timer.parts), routes };
}

/** Waits until the standbys of a side have what the new side is. One that was lost must not block the end. */
async function untilFlushed(side: CellSession, lsn: string, state: string): Promise<void> {
  await poll(createDeadline(standbysMs), async () => {
    const late = await selectStandbysBefore(side, [], lsn);
    return (
      late[0] &&
      `A failover could forget that the new side is ${state}: ${late.join(', ')} did not flush it. Try again.`
    );
  });
}

/** The commands that HAProxy takes at its socket. An organization whose id does not have the old number is in the map already. */
function routesOf({ fromCell, toCell, organizationIds }: CellSplit, mapFile: string): string[] {
  const commands = organizationIds.map((id) => {
    const verb = ((BigInt(id) >> 12n) & 1023n) === BigInt(fromCell) ? 'add' : 'set';
    return `${verb} map ${mapFile} ${id} ${toCell}`;
  });
  const routesPerLine = Math.floor(routesMaxLength / (mapFile.length + routeMaxLength));
  return Array.from({ length: Math.ceil(commands.length / routesPerLine) }, (_, line) =>
    commands.slice(line * routesPerLine, (line + 1) * routesPerLine).join('; '),
  );
}

/**
 * Ends a split before its new side is promoted: what was to leave is at home again.
 *
 * @param newSide null if it cannot be reached: if it is promoted, it stays read-only, and `activate` refuses it
 * @throws {Error} if the new side is promoted
 */
export async function abortSplit(step: SplitStep, newSide: CellSession | null): Promise<SplitReport> {
  const { oldSide, isDryRun } = step;
  const timer = createTimer();
  await requirePrimary(oldSide);
  const split = await requireSplit(oldSide);
  if (split.abortedAt !== null) return report('abort', split, isDryRun, null);
  const isStandby = newSide === null || (await describeSides(oldSide, newSide)).next.isStandby;
  const isPromoted = split.promotedAt !== null || !isStandby;
  refuseIf(isPromoted, 'The new side is promoted. The split can only go on: run `cell split activate`.');
  if (!isDryRun) {
    if (newSide !== null) await setReadOnly(newSide, false);
    await record(oldSide, step, 'abort', split, unfreezeHomes);
  }
  timer.note('homes', `${split.organizationIds.length} organizations stay`);
  return report('abort', split, isDryRun, timer.parts);
}

const changeOf = (isReadOnly: boolean): string =>
  isReadOnly ? 'set default_transaction_read_only = on' : 'reset default_transaction_read_only';

/** Apps do not start on a new side that is read-only, where what stays would be at home too. */
async function setReadOnly(newSide: CellSession, isReadOnly: boolean): Promise<void> {
  await newSide.run(`alter system ${changeOf(isReadOnly)}`);
  await newSide.run('select pg_reload_conf()');
}

/** Ends the sessions of apps, which would not notice it. */
async function setDatabaseReadOnly(newSide: CellSession, isReadOnly: boolean): Promise<void> {
  await newSide.run(
    `do $$ begin execute format('alter database %I ${changeOf(isReadOnly)}', current_database()); end $$`,
  );
  await newSide.run(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name like 'deedwire-%' and pid <> pg_backend_pid()`);
}

export const listCells = ({ store }: ActionContext) => selectCells(store);

/** The last split, whether it is open or not. */
export const readSplit = ({ store }: ActionContext) => selectSplit(store);

const isOpen = ({ activatedAt, abortedAt }: CellSplit): boolean => activatedAt === null && abortedAt === null;

/** @throws {Error} while a split is open */
export async function requireNoSplit(database: Database): Promise<void> {
  const split = await selectSplit(database);
  refuseIf(split !== null && isOpen(split), 'A split is open. Finish it, or run `cell split abort`.');
}

async function requireSplit(oldSide: CellSession): Promise<CellSplit> {
  const split = await selectSplit(oldSide);
  if (split === null) throw new Error(noSplit);
  return split;
}

async function requireOpen(oldSide: CellSession): Promise<CellSplit> {
  const split = await requireSplit(oldSide);
  refuseIf(!isOpen(split), noSplit);
  return split;
}

type FrozenSplit = CellSplit & { freezeLsn: string };

async function requireFrozen(oldSide: CellSession): Promise<FrozenSplit> {
  const { freezeLsn, ...split } = await requireOpen(oldSide);
  if (freezeLsn === null) throw new Error('Nothing is frozen. Run `cell split freeze` first.');
  return { ...split, freezeLsn };
}

async function requirePrimary(oldSide: CellSession): Promise<CellServer> {
  const old = await describeServer(oldSide);
  refuseIf(!old.isSuperuser, `${oldUrl} needs the login of a superuser.`);
  refuseIf(old.isStandby, `${oldUrl} leads to a standby. Name the primary of the old side.`);
  return old;
}

/** The indexes of a standby are copies, which its own library reads. */
function refuseCollation({ name, stored, actual }: ChangedCollation): never {
  const found = `Indexes were built with version ${stored} of the collation ${name ?? 'of the database'}`;
  const remedy =
    'Install the C library and ICU of the old side there. If it has that version, too, run what `database check` prints.';
  throw new Error(`${found}, and the new side has ${actual}. ${remedy}`);
}

async function describeSides(oldSide: CellSession, newSide: CellSession) {
  const [old, next] = [await requirePrimary(oldSide), await describeServer(newSide)];
  refuseIf(!next.isSuperuser, `${newUrl} needs the login of a superuser.`);
  const isCopy = old.system === next.system && old.database === next.database;
  refuseIf(!isCopy, `${newUrl} leads to no copy of this database: the system identifiers or the names differ.`);
  return { old, next };
}

/** A promoted server that did not come from this split would be a second truth. */
async function requireCopy(newSide: CellSession, split: CellSplit): Promise<void> {
  const copy = await selectSplit(newSide);
  const isCopy = copy?.id === split.id && copy.freezeLsn !== null;
  refuseIf(!isCopy, `${newUrl} leads to a server that does not have the freeze of this split.`);
}

/** Changes one side, and stores the step there. */
async function record<Split extends NewSplit>(
  side: CellSession,
  { context }: SplitStep,
  step: CellStep,
  split: Split,
  change: (transaction: Transaction, split: Split) => Promise<void> = async () => {},
): Promise<void> {
  const { fromCell, toCell, organizationIds } = split;
  const details = { fromCell, toCell, organizations: organizationIds.length };
  const audited = { action: `cell.split-${step}`, subject: `cell/${toCell}`, account: null, details };
  await side.transaction(async (transaction) => {
    await change(transaction, split);
    await storeStep(transaction, step);
    await appendAuditEntry(transaction, context.operator, audited);
  });
}

function report(step: string, { toCell }: NewSplit, isDryRun: boolean, parts: SplitPart[] | null): SplitReport {
  return { step, toCell, isDryRun, parts, routes: [], commands: [] };
}

function refuseIf(isWrong: boolean, problem: string): void {
  if (isWrong) throw new Error(problem);
}

function createTimer() {
  const parts: SplitPart[] = [];
  let startMs = performance.now();
  return {
    parts,
    /** Ends a part, and begins the next one. */
    note(part: string, found: string): void {
      const nowMs = performance.now();
      parts.push({ part, ms: Math.round(nowMs - startMs), found });
      startMs = nowMs;
    },
  };
}

const megabytes = (bytes: number): string => `${Math.max(0, bytes / 1e6).toFixed(1)} MB`;

/** Of a position in the log, for example `0/3004510`. */
function bytesOf(lsn: string): number {
  const [high = '', low = ''] = lsn.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}
