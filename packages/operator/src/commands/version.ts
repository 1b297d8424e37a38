import { type EndingUse, listEndingUse } from '@deedwire/actions';
import { operatorCommand } from '@deedwire/core';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { futureTimes, parseFutureTime } from '../time-options.ts';
import { addVerb, notes, print, type OutputOptions, tableFor, UnknownAnswerError } from '../verb.ts';

export function addVersionCommands(program: Command, shell: Shell): void {
  const noun = program.command('version').description('look at versions of the interfaces and of events that end');

  addVerb(noun, 'usage', 'list the clients and subscriptions whose versions end')
    .requiredOption('--sunset-within <time>', `the last sunset: ${futureTimes}`, parseFutureTime)
    .addHelpText(
      'after',
      notes(`
The exit code is 1 if there are any, and 3 if this is unknown, for example because the database is unavailable.

  ${operatorCommand()} version usage --sunset-within 90d`),
    )
    .action(async (options: OutputOptions & { sunsetWithin: Date }) => {
      const until = options.sunsetWithin.toISOString().slice(0, 10);
      const found = await withContext(shell, (context) => listEndingUse(context, until)).catch((cause: unknown) => {
        throw new UnknownAnswerError(`Who uses versions that end until ${until} is unknown.`, { cause });
      });
      print(shell, options, found, (rows) =>
        rows.length === 0
          ? `No client or subscription uses a version whose sunset is until ${until}.`
          : tableFor(shell, rows, columns),
      );
      if (found.length > 0)
        throw new Error(`${found.length} clients or subscriptions use versions that end until ${until}.`);
    });
}

const columns = {
  who: (row: EndingUse) => row.id,
  version: (row: EndingUse) => row.version,
  sunset: (row: EndingUse) => row.sunsetOn,
  pinned: (row: EndingUse) => (row.isPinned ? 'yes' : 'no'),
  'last used': (row: EndingUse) => row.lastUsedOn,
  account: (row: EndingUse) => row.account,
};
