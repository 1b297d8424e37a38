export { checkContracts, checkGeneratedFiles, checkServedSchemas, findTodos, findTodosOf } from './commands.ts';
export { run, workspaceRoot, type CommandResult, type ToolResult } from './run.ts';
export { contractFolders, sunsetProblems } from './sunset-plans.ts';
export { checkTypes } from './types.ts';
export { type Claim, claimsOf } from './threats.ts';
