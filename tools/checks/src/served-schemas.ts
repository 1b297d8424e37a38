import { run, type CommandResult } from './run.ts';

/** Compares the schema that each app serves with the SDL of the contract. */
export function checkServedSchemas(): Promise<CommandResult> {
  return run('node', ['--conditions=deedwire-source', 'tools/checks/src/served-schemas/main.ts']);
}
