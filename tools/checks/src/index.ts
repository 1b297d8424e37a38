export { checkContracts } from './contracts.ts';
export { checkGeneratedFiles } from './generated-files.ts';
export { run, workspaceRoot, type CommandResult, type ToolResult } from './run.ts';
export { checkServedSchemas } from './served-schemas.ts';
export { checkTypes } from './types.ts';
export { findTodos } from './find-todos.ts';
