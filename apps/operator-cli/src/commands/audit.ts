import { listAuditEntries } from '@deedwire/actions';
import type { Command } from 'commander';
import { limitOption } from '../limit.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { formatTable } from '../table.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addAuditCommands(program: Command, shell: Shell): void {
  const noun = program.command('audit').description('inspect the audit log');

  addVerb(noun, 'list', 'list the latest changes, newest first')
    .addOption(limitOption())
    .action(async (options: OutputOptions & { limit: number }) => {
      const listed = await withContext(shell, (context) => listAuditEntries(context, { limit: options.limit }));
      print(shell, options, listed, (entries) =>
        formatTable(entries, {
          at: (row) => row.at,
          actor: (row) => row.actor,
          login: (row) => row.login,
          from: (row) => row.address,
          action: (row) => row.action,
          command: (row) => commandOf(row.details),
          subject: (row) => row.subject,
          account: (row) => row.accountId,
          request: (row) => row.requestId,
        }),
      );
    });
}

/** The command that made a change, if the database wrote its entry. A rotation, for example, makes two changes. */
function commandOf(details: object): string | null {
  return 'command' in details && typeof details.command === 'string' ? details.command : null;
}
