import { closeCopy } from '@deedwire/actions';
import { databaseAddress, withCellSession } from '@deedwire/store';
import type { Command } from 'commander';
import { findDirectUrl } from '../database-url.ts';
import { createProgress } from '../progress.ts';
import { withContext } from '../session.ts';
import type { Shell } from '../shell.ts';
import { formatRecord } from '../table.ts';
import { addVerb, type Choice, notes, print, requireChoice, type OutputOptions } from '../verb.ts';

const isHeld = 'Another command works on this database.';

export function addDatabaseCopied(noun: Command, shell: Shell): void {
  addVerb(noun, 'copied', 'close a copy of a database, for tests, to the clients and receivers of the original')
    .option('--dry-run', 'count what is open, and change nothing')
    .option('--yes', 'close it, for good')
    .addHelpText(
      'after',
      notes(`
Run it before an app starts on the copy: otherwise its worker sends the pending deliveries to the real receivers. It pauses all
subscriptions, revokes all keys, ends sessions and links of the portal, cancels replays, discards queued events and alerts,
and lets pending deliveries expire: deliveries from before can then not be sent from the copy, even once a subscription is resumed.
Later events can: do not resume a subscription whose receiver is real.

It refuses to run while an app is connected or the lease of a worker is valid, at most 15 seconds by default after the copy
was made. After an interruption, run it again.`),
    )
    .action(async (options: OutputOptions & Choice, command: Command) => {
      const isDryRun = requireChoice(options, command, 'count what is open', 'close it');
      const progress = createProgress(shell, options);
      const closed = await withContext(shell, async (context, config) => {
        const databaseUrl = findDirectUrl(config);
        const found = await withCellSession(databaseUrl, isHeld, (session) =>
          closeCopy({ context, session, isDryRun, onProgress: (done) => progress.report(done) }),
        );
        return { database: databaseAddress(databaseUrl), ...found };
      }).finally(() => progress.end());
      print(shell, options, closed, ({ database, ...found }) =>
        [
          isDryRun ? `Open in ${database}:` : `Closed ${database}. It had:`,
          formatRecord([
            ['active subscriptions', found.activeSubscriptions],
            ['keys', found.keys],
            ['portal sessions and links', found.portalSessions],
            ['replays in progress', found.replays],
            ['queued events', found.queuedEvents],
            ['pending deliveries', found.pendingDeliveries],
          ]),
        ].join('\n'),
      );
    });
}
