export { gidArgument, gidOption } from './gid.ts';
export { afterDescription, limitOption, type Window } from './limit.ts';
export { runOperatorProcess } from './run-operator-process.ts';
export { type AddCommands, runOperator } from './run-operator.ts';
export type { FirstSteps, Seed } from './seed.ts';
export { withContext } from './session.ts';
export type { Shell, Surroundings } from './shell.ts';
export { addVerb, notes, type OutputOptions, print, printList } from './verb.ts';
