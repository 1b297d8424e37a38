export { planChanges, type Changes } from './changes.ts';
export { planCommand, type Plan } from './command.ts';
export { runCommand } from './run-command.ts';
export { ScaffoldError } from './scaffold-error.ts';
