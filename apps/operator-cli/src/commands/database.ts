import { advanceAllSequences, listSequences } from '@deedwire/actions';
import { type Command, InvalidArgumentError } from 'commander';
import { migrateDatabase, withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { addVerb, print, tableFor, type OutputOptions } from '../verb.ts';

const cellMax = 1023;
const waitMinutesMax = 1440;
const defaultWaitMinutes = 10;

export function addDatabaseCommands(program: Command, shell: Shell): void {
  const noun = program.command('database').description('manage the database');

  addVerb(noun, 'migrate', 'apply the migrations that this build needs')
    .option(
      '--cell <number>',
      `the number of this database in the ids of its records, 0 to ${cellMax}, for good (default: 0 for a new database)`,
      parseUpTo(cellMax, ''),
    )
    .option(
      '--wait <minutes>',
      `how long to wait for locks that other sessions hold, 0 to ${waitMinutesMax}`,
      parseUpTo(waitMinutesMax, ' of minutes'),
      defaultWaitMinutes,
    )
    .action(async (options: OutputOptions & { cell?: number; wait: number }) => {
      const { cell, wait } = options;
      const migrated = await migrateDatabase(shell, { ...(cell !== undefined && { cell }), waitMs: wait * 60_000 });
      print(shell, options, migrated, ({ applied }) =>
        applied.length === 0 ? 'Nothing to apply' : applied.map((name) => `Applied ${name}`).join('\n'),
      );
    });

  addVerb(noun, 'check', 'compare the sequences of the database with its rows')
    .addHelpText(
      'after',
      '\nA copy of the rows of a database, such as a logical replica, does not copy its sequences. The exit code is 1 if the\n' +
        'next number of a sequence is not beyond the numbers that rows contain. Workers do not start on such a database.',
    )
    .action(async (options: OutputOptions) => {
      const sequences = await withContext(shell, listSequences);
      print(shell, options, { sequences }, () =>
        tableFor(shell, sequences, {
          sequence: ({ name }) => name,
          'last number': ({ lastNumber }) => lastNumber,
          'highest used': ({ highestUsed }) => highestUsed,
          state: ({ isBehind }) => (isBehind ? 'behind' : 'ok'),
        }),
      );
      const behind = sequences.filter(({ isBehind }) => isBehind).map(({ name }) => name);
      if (behind.length === 0) return;
      throw new Error(
        `Sequences behind the rows of the database: ${behind.join(', ')}. Run \`deedwire-operator database advance-sequences\`.`,
      );
    });

  addVerb(noun, 'advance-sequences', 'advance the sequences that are behind the rows of the database')
    .addHelpText(
      'after',
      '\nStop all workers first. Events that were queued with low numbers are moved to the end of the queue, in their order, so\n' +
        'that they are delivered. Does nothing if no sequence is behind.',
    )
    .action(async (options: OutputOptions) => {
      const advanced = await withContext(shell, advanceAllSequences);
      print(shell, options, { advanced }, () =>
        advanced.length === 0
          ? 'No sequence is behind'
          : advanced.map(({ name, before, after }) => `Advanced ${name} from ${before} to ${after}`).join('\n'),
      );
    });
}

function parseUpTo(max: number, unit: string): (value: string) => number {
  return (value) => {
    if (!/^\d{1,4}$/.test(value) || Number(value) > max) {
      throw new InvalidArgumentError(`It must be a whole number${unit} from 0 to ${max}.`);
    }
    return Number(value);
  };
}
