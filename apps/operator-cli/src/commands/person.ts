import { erasePerson, type KeptOfPerson } from '@deedwire/actions';
import { isEmail } from '@deedwire/domain';
import type { Command } from 'commander';
import { findDatabaseUrl } from '../database-url.ts';
import { accountTypes, gidOption } from '../gid.ts';
import { createProgress } from '../progress.ts';
import { readInput } from '../read-input.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, type Choice, notes, type OutputOptions, print, requireChoice, tableFor } from '../verb.ts';

interface EraseOptions extends OutputOptions, Choice {
  email?: string;
  record?: string;
  account?: string;
}

export function addPersonCommands(program: Command, shell: Shell): void {
  const noun = program.command('person').description('erase the data of persons');

  addVerb(noun, 'erase', 'list what is kept of a team member or of the client of a referral, and erase it')
    .option('--email <address>', 'of records that have it, or had it in an event that is kept; - for standard input')
    .addOption(
      gidOption(shell, 'record', 'a team member, which may be removed, or a referral', 'TeamMember', 'Referral'),
    )
    .addOption(
      gidOption(shell, 'account', 'only records of this lender or partner', ...accountTypes).conflicts('record'),
    )
    .option('--dry-run', 'list what is kept, and erase nothing')
    .option('--yes', 'erase it, for good')
    .addHelpText(
      'after',
      notes(`
What identifies in a record is replaced, for example by erased-4711@erased.invalid. Payloads of events about it are
deleted; deliveries that wait become EXPIRED. Ids, numbers, times and statuses stay, and no event is written. It waits for
requests that are being sent. After an interruption, run any erasure again: it finishes what was begun.

If several accounts have the address, they are listed, and nothing is erased without --account.

It does not reach backups, WAL, standbys, logs and receivers: see docs/operations.md. The list of processes shows an
address that is not read from standard input.

  deedwire-operator person erase --email ada@lender.example --dry-run
  deedwire-operator person erase --email - --yes < address.txt
  deedwire-operator person erase --record TeamMember/4711 --yes`),
    )
    .action(async (options: EraseOptions, command: Command) => {
      const { email, record, account: accountId } = options;
      if ((email === undefined) === (record === undefined)) command.error('error: pass either --email or --record');
      const isDryRun = requireChoice(options, command, 'list what is kept', 'erase it');
      const address = email === '-' ? (await readInput(shell, email, 1_000)).toString().trim() : email;
      // A byte that is not UTF-8 has been read as U+FFFD.
      if (address !== undefined && (!isEmail(address) || address.includes('\ufffd')))
        command.error(`error: ${email === '-' ? 'standard input' : email} is not an email address`);
      const input = { address, record, accountId };
      const progress = createProgress(shell, options);
      let isKept = false;
      const onFound = (kept: KeptOfPerson): void => {
        progress.end();
        isKept = kept.tables.length + kept.unfinished.length > 0;
        // Records can have such an address, but it can also be copied from a link or a list.
        if (kept.records.length === 0 && address !== undefined && /[<>:;,"\p{Cf}]|^'/u.test(address))
          command.error(`error: no record has ${address}; pass the address alone`);
        print(shell, options, kept, (found) => describe(shell, found));
      };
      const unvacuumed = await withContext(shell, async (context, config) =>
        erasePerson(context, input, {
          isDryRun,
          directUrl: config.DATABASE_DIRECT_URL ?? findDatabaseUrl(config),
          onProgress: (done) => progress.report(done),
          onFound,
        }),
      ).finally(() => progress.end());
      if (unvacuumed.length > 0)
        shell.warn(
          `This login may not vacuum. Until autovacuum runs, files of the database keep deleted rows. Run as the owner: vacuum (analyze, index_cleanup on) ${unvacuumed.join(', ')}`,
        );
      if (isKept && !isDryRun && !options.json) shell.stdout.write('Nothing of it is left\n');
    });
}

function describe(shell: Shell, { records, tables, unfinished }: KeptOfPerson): string {
  const listOf = (of: KeptOfPerson['records'], title: string): string =>
    tableFor(shell, of, { [title]: ({ recordId }) => recordId, account: ({ accountId }) => accountId });
  const parts = unfinished.length === 0 ? [] : [listOf(unfinished, 'unfinished erasure')];
  if (records.length === 0 || tables.length === 0) parts.push(`Nothing ${parts.length === 0 ? '' : 'else '}is kept`);
  else
    parts.push(
      listOf(records, 'record'),
      tableFor(shell, tables, { table: ({ table }) => table, rows: ({ rows }) => rows }),
    );
  return parts.join('\n\n');
}
