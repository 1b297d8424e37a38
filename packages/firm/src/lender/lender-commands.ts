import { addVerb, gidArgument, type OutputOptions, print, type Shell, withContext } from '@deedwire/operator';
import type { Command } from 'commander';
import { updateLender } from './update-lender.ts';

/** Adds to the noun of the interface. */
export function addLenderCommands(program: Command, shell: Shell): void {
  const noun = program.commands.find((command) => command.name() === 'lender');
  if (noun === undefined) throw new Error('The service has no lender interface.');
  addVerb(noun, 'update', 'rename a lender')
    .addArgument(gidArgument(shell, 'Lender'))
    .requiredOption('--name <name>', 'the new name')
    .action(async (lenderId: string, options: OutputOptions & { name: string }) => {
      const updated = await withContext(shell, (context) => updateLender(context, { lenderId, name: options.name }));
      print(shell, options, updated, ({ id, name }) => `Renamed the lender ${id} to ${name}`);
    });
}
