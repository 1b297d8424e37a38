import { type AuditEntry, listAuditEntries } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import type { Command } from 'commander';
import { exportEntries, verifyFiles } from '../audit-export/export-entries.ts';
import type { VerifiedChain } from '../audit-export/verify-chain.ts';
import { accountOption, subjectOption } from '../gid.ts';
import { limitOption } from '../limit.ts';
import { createProgress } from '../progress.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import type { Columns } from '../table.ts';
import { parsePastTime, pastTimes } from '../time-options.ts';
import { addVerb, notes, print, tableFor, type OutputOptions } from '../verb.ts';

interface ListOptions extends OutputOptions {
  client?: string;
  key?: string;
  account?: string;
  subject?: string;
  since?: Date;
  until?: Date;
  limit: number;
}

const columns: Columns<AuditEntry> = {
  at: (row) => row.at,
  actor: (row) => row.actor,
  action: (row) => row.action,
  subject: (row) => row.subject,
  account: (row) => row.accountId,
  from: (row) => row.address,
  key: ({ details }) => textOf(details, 'keyId') ?? textOf(objectOf(details, 'portal'), 'keyId'),
  command: ({ details }) => textOf(details, 'command'),
  login: (row) => row.login,
  request: (row) => row.requestId,
};

export function addAuditCommands(program: Command, shell: Shell): void {
  const noun = program.command('audit').description('inspect the audit log');

  addVerb(noun, 'list', 'list the latest changes, newest first')
    .option('--client <id>', 'only changes by this API client, of it, and of its keys')
    .option('--key <id>', 'only changes with this API key, in sessions of the portal that it opened, and of it')
    .addOption(accountOption(shell, 'only changes of this account and of its records'))
    .addOption(subjectOption(shell, 'only changes of this record: its identifier or its number'))
    .option('--since <time>', `only those at this time or later: ${pastTimes}`, parsePastTime)
    .option('--until <time>', 'only those before this time, in the same forms', parsePastTime)
    .addOption(limitOption())
    .addHelpText(
      'after',
      notes(`
  ${operatorCommand()} audit list --key <id> --since 7d
  ${operatorCommand()} audit list --subject <subscription> --since 7d --json

With --json, each entry has its details: of a subscription, its event types, and which of them an update added and removed. Entries that
releases before these details wrote lack them.

No index has clients, keys, accounts or subjects, so with one of them, name --since too: otherwise the whole log is searched. Entries that
earlier releases wrote name no key. Reads are in no entry: the lines \`request\` of the log have them.`),
    )
    .action(async ({ client, key, account, subject, since, until, limit, ...options }: ListOptions) => {
      const filter = { clientId: client, keyId: key, account, subject, since, until };
      const progress = createProgress(shell, options);
      const onSearched = (entries: number): void => progress.report(`Searched ${entries.toLocaleString('en')} entries`);
      const listed = await withContext(shell, (context) =>
        listAuditEntries(context, { ...filter, limit, onSearched }),
      ).finally(() => progress.end());
      const fixed = [
        ...(subject === undefined ? [] : ['subject', 'account']),
        ...(account === undefined ? [] : ['account']),
      ];
      print(shell, options, listed, (entries) =>
        entries.length === 0 ? 'No entries match' : tableFor(shell, entries, columns, fixed),
      );
    });

  addVerb(
    noun,
    'export',
    'write all entries as JSON Lines, oldest first, each with a hash over itself and the line before',
  )
    .option(
      '--previous <file...>',
      'continue these exports, in the order of their lines: write only entries that they lack, and report those of their ' +
        'entries that the database has lost or altered',
    )
    .addHelpText(
      'after',
      notes(`
The output is the same with and without --json: {"line":1,"previous":"…","entry":{…},"hash":"…"}

The hash is the SHA-256 of the line without ,"hash":"…". The first line continues 64 zeros.

Name all previous exports, beginning with line 1. They are verified first; nothing is written if they are not intact.
An entry can be committed after a later one was exported. It gets the next line.
Entries that the worker has dropped after AUDIT_RETENTION_DAYS are not reported: set the variable as for the worker.
The exit code is 1 if an entry was lost or altered, even if new entries were written.

  ${operatorCommand()} audit export --json > audit-1.jsonl
  ${operatorCommand()} audit export --json --previous audit-1.jsonl > audit-2.jsonl
  ${operatorCommand()} audit verify audit-1.jsonl audit-2.jsonl`),
    )
    .action(async ({ previous = [] }: OutputOptions & { previous?: string[] }) => {
      await withContext(shell, (context, { AUDIT_RETENTION_DAYS: retentionDays }) =>
        exportEntries(shell, context, { previousFiles: previous, retentionDays }),
      );
    });

  addVerb(noun, 'verify <file...>', 'check exports without the database, in the order of their lines')
    .addHelpText(
      'after',
      notes(`
Finds lines that were edited, removed, swapped, repeated or cut off, and missing files.
A person who can write all files can edit a line and calculate all later hashes again. Keep the last hash of each export
in another place, which this person cannot change, and check that the exports still contain it.`),
    )
    .action(async (files: string[], options: OutputOptions) => {
      const { runs, ...chain } = await verifyFiles(shell, files);
      const verified = { ...chain, ...timesOf(runs) };
      if (verified.entries === 0) throw new Error('The exports contain no entry.');
      print(shell, options, verified, describeVerified);
    });
}

type Verified = Omit<VerifiedChain, 'runs'> & { from: string | null; to: string | null };

/** The times of the earliest and the latest entry. */
function timesOf(runs: VerifiedChain['runs']): Pick<Verified, 'from' | 'to'> {
  if (runs.length === 0) return { from: null, to: null };
  const from = runs.reduce((earliest, { first }) => Math.min(earliest, first.atMs), Number.POSITIVE_INFINITY);
  const to = runs.reduce((latest, { last }) => Math.max(latest, last.atMs), Number.NEGATIVE_INFINITY);
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
}

function describeVerified({ entries, firstLine, lastLine, previousHash, lastHash, from, to }: Verified): string {
  return [
    `${entries} ${entries === 1 ? 'entry' : 'entries'}, lines ${firstLine} to ${lastLine}, from ${from} to ${to}`,
    ...(firstLine === 1
      ? []
      : [`The lines before were not checked. The last of them has to have the hash ${previousHash}`]),
    `Last hash: ${lastHash}`,
  ].join('\n');
}

/**
 * A text of the details of an entry, for example the command that made the change, if the database wrote the entry. A rotation makes two
 * changes.
 */
function textOf(details: object | null, name: string): string | null {
  const value: unknown = details && Reflect.get(details, name);
  return typeof value === 'string' ? value : null;
}

function objectOf(details: object, name: string): object | null {
  const value: unknown = Reflect.get(details, name);
  return typeof value === 'object' ? value : null;
}
