import { run, type CommandResult } from './run.ts';

/** Where people write what is served and published, without what generators copy from it. */
const written = [
  '.changeset',
  'apps/*/src/*',
  'packages/*/src/*',
  'packages/*/versions/*',
  'packages/*/typical.json',
  ':(exclude,glob)**/generated/**',
];

/** Finds what `pnpm new` leaves to write, by file and line. */
export async function findTodos(): Promise<CommandResult> {
  const { output } = await run('git', [
    'grep',
    '--untracked',
    '--line-number',
    '--word-regexp',
    'TODO',
    '--',
    ...written,
  ]);
  return { succeeded: output === '', output };
}
