import { erasePerson, type KeptOfPerson } from '@deedwire/actions';
import { isEmail, operatorCommand, type Service } from '@deedwire/core';
import type { Command } from 'commander';
import { findDirectUrl } from '../database-url.ts';
import { accountOption, recordOption } from '../gid.ts';
import { createProgress } from '../progress.ts';
import { readInput } from '../read-input.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import type { Columns } from '../table.ts';
import { addVerb, type Choice, notes, type OutputOptions, print, requireChoice, tableFor } from '../verb.ts';

interface EraseOptions extends OutputOptions, Choice {
  email?: string;
  record?: string;
  account?: string;
}

export function addPersonCommands(program: Command, shell: Shell): void {
  const noun = program.command('person').description('erase the data of persons');

  addVerb(noun, 'erase', 'list what is kept of a person, and erase it')
    .option(
      '--email <address>',
      'of the records that have it; - reads it from standard input, so that the list of processes does not show it',
    )
    .addOption(
      recordOption(
        shell,
        'record',
        'the record of the person, which may be removed: its global identifier or its id',
        ...recordsOfPersons(shell.service),
      ),
    )
    .addOption(accountOption(shell, 'only records of this account'))
    .option('--dry-run', 'list what is kept, and erase nothing')
    .option('--yes', 'erase it, for good')
    .addHelpText(
      'after',
      notes(`
What identifies in a record is replaced, for example by erased-4711@erased.invalid. With --email, the address is removed
from the contact addresses of the account. Payloads of events about a record are deleted; deliveries that wait become
EXPIRED. Ids, numbers, times and statuses stay, and no event is written. It waits for requests that are being sent. After
an interruption, run any erasure again: afterwards, it finishes what was begun. A warning names what it cannot finish, which
is the result only if no record has the address.

If several accounts have the address, they are listed, and nothing is erased without --account.

An interface can store an event about any record. So a record that has the address in events only is listed apart and kept,
unless an operator has removed it and all its events agree. Pass it with --record, after you have looked at it. An event that cannot be
read is named in a warning, and stops nothing.

It does not reach backups, WAL, standbys, logs and receivers: see docs/operations/accounts.md.

  echo ada@example.com | ${operatorCommand()} person erase --email - --dry-run
  ${operatorCommand()} person erase --email - --yes < address.txt
  ${operatorCommand()} person erase --record 4711 --yes`),
    )
    .action(async (options: EraseOptions, command: Command) => {
      const { email, record, account: accountId } = options;
      if ((email === undefined) === (record === undefined)) command.error('error: pass either --email or --record');
      const isDryRun = requireChoice(options, command, 'list what is kept', 'erase it');
      const address = email === '-' ? (await readInput(shell, email, 1_000)).toString().trim() : email;
      // A byte that is not UTF-8 has been read as U+FFFD.
      if (address !== undefined && (!isEmail(address) || address.includes('\ufffd')))
        command.error(`error: ${email === '-' ? 'standard input' : email} is not an email address`);
      if (address !== undefined && email !== '-')
        shell.warn('The list of processes and the history of the shell show this address. Pass --email - and pipe it.');
      const input = { address, record, accountId };
      const progress = createProgress(shell, options);
      let isKept = false;
      let isUnfinished = false;
      let isLeft = false;
      const onFound = (kept: KeptOfPerson): void => {
        progress.end();
        isKept = kept.tables.length > 0;
        isUnfinished = kept.unfinished.length > 0;
        isLeft = kept.namedByEvents.length + kept.unreadable.length > 0;
        // Records can have such an address, but it can also be copied from a link or a list.
        if (
          kept.records.length + kept.namedByEvents.length + kept.contactAccountIds.length === 0 &&
          address !== undefined &&
          /[<>:;,"\p{Cf}]|^'/u.test(address)
        )
          command.error(`error: no record has ${address}; pass the address alone`);
        print(shell, options, kept, (found) => describe(shell, found));
        if (kept.unreadable.length > 0) shell.warn(describeUnreadable(kept.unreadable));
      };
      const { unvacuumed, left } = await withContext(shell, async (context, config) =>
        erasePerson(context, input, {
          isDryRun,
          directUrl: findDirectUrl(config),
          onProgress: (done) => progress.report(done),
          onFound,
        }),
      ).finally(() => progress.end());
      if (unvacuumed.length > 0)
        shell.warn(
          `This login may not vacuum. Until autovacuum runs, files of the database keep deleted rows. Run as the owner: vacuum (analyze, index_cleanup on) ${unvacuumed.join(', ')}`,
        );
      for (const message of left) shell.warn(message);
      if ((isKept || (isUnfinished && left.length === 0)) && !isDryRun && !options.json)
        shell.stdout.write(isLeft ? 'Nothing else of it is left\n' : 'Nothing of it is left\n');
    });
}

/** The types of records whose rows or events identify persons. */
function recordsOfPersons({ persons, events }: Service): string[] {
  const ofEvents = events.flatMap((event) => (event.persons.length > 0 ? (event.record?.type ?? []) : []));
  return [...new Set([...persons.map(({ record }) => record), ...ofEvents])];
}

function describe(
  shell: Shell,
  { records, tables, contactAccountIds, unfinished, namedByEvents }: KeptOfPerson,
): string {
  const listOf = (of: KeptOfPerson['records'], title: string): string => {
    const columns: Columns<KeptOfPerson['records'][number]> = {
      [title]: ({ recordId }) => recordId,
      account: ({ accountId }) => accountId,
    };
    const table = tableFor(shell, of.slice(0, linesShown), columns);
    return of.length > linesShown ? `${table}\n${moreThanShown(of)}` : table;
  };
  const parts = unfinished.length === 0 ? [] : [listOf(unfinished, 'unfinished erasure')];
  if (namedByEvents.length > 0)
    parts.push(
      `${listOf(namedByEvents, 'named by an event only, kept')}\nAn event of these has the address, and the record does not. If one is of the person, erase it with --record.`,
    );
  if (contactAccountIds.length > 0) parts.push(`contact address of ${contactAccountIds.join(', ')}`);
  if (tables.length === 0) parts.push(`Nothing ${parts.length === 0 ? '' : 'else '}is kept`);
  else {
    if (records.length > 0) parts.push(listOf(records, 'record'));
    parts.push(tableFor(shell, tables, { table: ({ table }) => table, rows: ({ rows }) => rows }));
  }
  return parts.join('\n\n');
}

const linesShown = 20;

function moreThanShown(all: readonly unknown[]): string {
  return `and ${all.length - linesShown} more, which --json prints`;
}

function describeUnreadable(events: KeptOfPerson['unreadable']): string {
  const lines = events.slice(0, linesShown).map(({ eventId, reason }) => `  ${eventId}: ${reason}`);
  if (events.length > linesShown) lines.push(`  ${moreThanShown(events)}`);
  return `Events that cannot be read, are kept, and may be about the person:
${lines.join('\n')}
Look at their rows in webhook_event. If the record_id of one is of the person, erase it with --record. The others stay until
the events of their day are dropped.`;
}
