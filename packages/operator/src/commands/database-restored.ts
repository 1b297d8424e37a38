import {
  checkRestored,
  LostChanges,
  type OldDatabase,
  type OperatorContext,
  readOldDatabase,
  type RestoreItem,
  type RestoreReport,
  settleRestore,
} from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import { appVariables, databaseTlsProblem } from '@deedwire/service-runtime';
import { databaseAddress } from '@deedwire/store';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addNumberOptions, describeAdvanced, readNumbers } from '../advanced-sequences.ts';
import { compareLogs } from '../audit-export/compare-logs.ts';
import { verifyFiles } from '../audit-export/export-entries.ts';
import { type ExportedEntry, readRuns } from '../audit-export/read-runs.ts';
import { readStored } from '../audit-export/read-stored.ts';
import type { Config } from '../config.ts';
import { findDirectUrl } from '../database-url.ts';
import { createProgress } from '../progress.ts';
import { withContext, withReadOnlyDatabase } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, notes, print, tableFor, type OutputOptions } from '../verb.ts';

interface RestoredOptions extends OutputOptions {
  oldUrl?: string;
  export?: string[];
  failover?: true;
  waive?: string[];
  dryRun?: true;
}

export function addDatabaseRestored(noun: Command, shell: Shell): void {
  const verb = addVerb(noun, 'restored', 'make again what a restore to an earlier time, or a failover, has undone')
    .addOption(
      new Option('--old-url <url>', 'the database as it was before, started read-only')
        .argParser(parseUrl)
        .conflicts('export'),
    )
    .option('--export <file...>', 'all exports of its audit log, in the order of their lines, if it is lost')
    .option('--failover', 'run beside the apps, after a failover that lost transactions')
    .option('--waive <id...>', 'items of the list that need not be done')
    .option('--dry-run', 'list what would be repeated and what is open, and change nothing');
  addNumberOptions(verb, shell)
    .addHelpText(
      'after',
      notes(`
Run it before the first app starts. It compares the audit log with that of before the restore. It ends all links and sessions
of the portal, and repeats revocations and expiries of keys, deletions, pauses, cancellations of replays, \`listener forbid\`,
limits, pins and, with --old-url and a login that may change roles, \`nologin\`. Then it advances the sequences.

It lists what it cannot repeat, such as secrets that were rotated and persons that were erased, and exits with 1 until each
item is done or waived. Run it again after that. The audit log has what was repeated and waived.

Exports have no logins, and nothing after their last entry, so with --export the list has an item for each.

A password in --old-url is in the list of processes. Set PGPASSWORD or write it to ~/.pgpass instead:

  ${operatorCommand()} database restored --old-url postgres://deedwire_operator@127.0.0.1:5433/deedwire --dry-run
  ${operatorCommand()} database restored --export audit-1.jsonl audit-2.jsonl --waive know:logins`),
    )
    .action(async (options: RestoredOptions, command: Command) => {
      const { oldUrl, export: files, failover, waive = [], dryRun } = options;
      const numbers = readNumbers(command, shell);
      const isDryRun = dryRun === true;
      if ((oldUrl === undefined) === (files === undefined)) command.error('error: pass either --old-url or --export');
      const progress = createProgress(shell, options);
      const onProgress = (done: string): void => progress.report(done);
      const report = await withContext(shell, async (context, config) => {
        const settle = async (
          old: OldDatabase | null,
          before: AsyncIterable<ExportedEntry>,
        ): Promise<RestoreReport> => {
          await checkRestored(context, { old, besideApps: failover === true });
          const changes = new LostChanges(context);
          const retentionDays = config.AUDIT_RETENTION_DAYS;
          const lastAt = await compareLogs(before, context, { changes, retentionDays, onProgress });
          return settleRestore(context, {
            changes,
            old,
            waive: new Set(waive),
            isDryRun,
            numbers,
            deletions: shell.deletions,
            knownUntil: old === null ? lastAt : null,
            directUrl: findDirectUrl(config),
            onProgress,
          });
        };
        if (oldUrl === undefined) return settle(null, readRuns((await verifyFiles(shell, files ?? [])).runs));
        requireTls(oldUrl, config);
        return withReadOnlyDatabase(shell, config, oldUrl, async (old) =>
          settle(await readOld(old, oldUrl), entriesOf(old)),
        );
      }).finally(() => progress.end());
      print(shell, options, { ...report, open: report.open.map((item) => ({ ...item, toDo: toDoOf(item) })) }, () =>
        describe(shell, report, isDryRun),
      );
      const waived = new Set(report.waived);
      const unknown = waive.filter((id) => !waived.has(id));
      if (unknown.length > 0) throw new Error(`The list has no item ${unknown.join(', ')}.`);
      const { open } = report;
      if (open.length > 0 && !isDryRun)
        throw new Error(
          `${open.length} ${open.length === 1 ? 'item is' : 'items are'} open. Do each, or waive it with --waive <id>, and run the command again.`,
        );
    });
}

/** The codes of PostgreSQL for a column, a function or a table that does not exist. */
const undefinedCodes: readonly unknown[] = ['42703', '42883', '42P01'];

async function readOld(old: OperatorContext, url: string): Promise<OldDatabase> {
  try {
    return await readOldDatabase(old);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && undefinedCodes.includes(error.code))) throw error;
    const message = `${databaseAddress(url)} of --old-url is no Deedwire database of this release: ${error.message}`;
    throw new Error(`${message}. Check the URL, or use the release of that database.`, { cause: error });
  }
}

async function* entriesOf(context: OperatorContext): AsyncGenerator<ExportedEntry> {
  for await (const entry of readStored(context)) yield { ...entry, file: '', line: 0 };
}

function requireTls(url: string, config: Config): void {
  const problem = databaseTlsProblem(url, config);
  if (problem !== null) throw new Error(`The URL of --old-url ${problem}.`);
}

const again = (): string => 'make the change again';

const toDo: Record<RestoreItem['verb'], (item: RestoreItem) => string> = {
  cancel: again,
  create: () => 'it was created later, and is lost: create it again',
  delete: again,
  erase: ({ subject }) => `${operatorCommand()} person erase --record ${subject} --yes`,
  expire: again,
  issue: ({ accountId, clientId }) =>
    `the key is lost: ${operatorCommand()} credential issue --account ${accountId ?? '<id of the account that replaces it>'}${clientId === null ? '' : ` --client ${clientId}`}`,
  know: ({ subject }) =>
    subject === 'logins'
      ? 'exports do not say which logins were disabled: disable them again'
      : 'the exports end here: make again what was changed later',
  limit: again,
  listeners: again,
  login: () => 'it did not have the rights of an app before: drop it, or waive it if it is new',
  pause: again,
  pin: again,
  read: ({ subject }) => `make it again if it is true, because this release cannot tell: ${subject}`,
  resume: ({ subject }) => `${operatorCommand()} subscription resume ${subject}`,
  revoke: again,
  rewrap: () => `${operatorCommand()} secrets rewrap`,
  rotate: ({ subject }) => `${operatorCommand()} subscription rotate ${subject} --overlap 0`,
  update: again,
};

const toDoOf = (item: RestoreItem): string => item.reason ?? toDo[item.verb](item);

function describe(
  shell: Shell,
  { lost, endedSessions, repeated, open, waived, advanced }: RestoreReport,
  isDryRun: boolean,
): string {
  const counts = Object.entries(lost).map(([action, count]) => `${action} ${count.toLocaleString('en')}`);
  const items = tableFor(shell, open, {
    item: ({ id }) => id,
    at: ({ at }) => at,
    'to do': toDoOf,
  });
  return [
    `Lost entries: ${counts.length === 0 ? 'none' : counts.join(', ')}`,
    endedSessions === null
      ? 'Sessions of the portal were ended before'
      : `${isDryRun ? 'Would end' : 'Ended'} sessions of the portal: ${endedSessions}`,
    ...repeated.map(({ id }) => `${isDryRun ? 'Would repeat' : 'Repeated'} ${id}`),
    ...waived.map((id) => `${isDryRun ? 'Would waive' : 'Waived'} ${id}`),
    ...(advanced.length === 0 ? [] : [describeAdvanced(advanced)]),
    ...(open.length === 0 ? ['Nothing is open'] : ['', items]),
  ].join('\n');
}

function parseUrl(value: string): string {
  const { success, error } = appVariables.DATABASE_URL.safeParse(value);
  if (!success) throw new InvalidArgumentError(`It ${error.issues[0]?.message}.`);
  return value;
}
