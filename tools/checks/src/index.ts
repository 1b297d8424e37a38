export { checkContracts, checkServedSchemas, findTodos } from './commands.ts';
export { checkGeneratedFiles } from './generated-files.ts';
export { run, workspaceRoot, type CommandResult } from './run.ts';
export { sunsetProblems } from './sunset-plans.ts';
export { checkTypes } from './types.ts';
