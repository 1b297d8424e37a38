import { pinClient } from '@deedwire/actions';
import type { Command } from 'commander';
import { withContext } from '../session.ts';
import { addVerb, print, type OutputOptions } from '../verb.ts';

export function addClientCommands(program: Command): void {
  const noun = program.command('client').description('manage API clients');

  addVerb(noun, 'pin <clientId>', 'change the schema version for requests that name none')
    .requiredOption('--schema-version <date>', 'a version of the client’s interface, for example 2026-11-01')
    .action(async (clientId: string, options: OutputOptions & { schemaVersion: string }) => {
      const input = { clientId, schemaVersion: options.schemaVersion };
      const pinned = await withContext((context) => pinClient(context, input));
      print(
        options,
        pinned,
        ({ schemaVersion, previousSchemaVersion }) =>
          `Pinned the client ${clientId} to ${schemaVersion}; previously ${previousSchemaVersion}`,
      );
    });
}
