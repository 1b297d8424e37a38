import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, workspaceRoot, type CommandResult } from './run.ts';

export interface Place {
  readonly path: string;
  readonly text: string;
}

/** What precedes an instruction in a file that `pnpm new` wrote. The rest of the line says what to write there. */
const instruction = /\bFILL IN: (.+?)(?:\s*\*\/)?$/;

/** Generated files repeat the instructions of their sources. The tool and the check contain the words themselves. */
const excluded = [
  ':(glob,exclude)**/generated/**',
  ':(glob,exclude)docs/reference/**',
  ':(exclude)tools/checks/src/unfinished*.ts',
  ':(exclude)tools/scaffold',
  ':(exclude)tools/contract-tests/test/full/scaffold-*.test.ts',
  ':(exclude)tools/contract-tests/test/support/contributor.ts',
];

/** Lists the instructions in the files, as `<path>:<line>: <instruction>`. */
export function findInstructions(files: readonly Place[]): string[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => {
      const [, what] = instruction.exec(line) ?? [];
      return what === undefined ? [] : [`${path}:${index + 1}: ${what}`];
    }),
  );
}

/** A client requests this event, and no change of a record causes it. */
const requested = 'webhook.test';

/** Lists the event types that no source of the actions names. */
export function findTypesWithoutAction(types: readonly string[], sources: readonly Place[]): string[] {
  return types
    .filter((type) => type !== requested && !sources.some(({ text }) => text.includes(`'${type}'`)))
    .map(
      (type) =>
        `packages/actions/src: no action appends ${type}. Call appendEvent(transaction, account, '${type}', snapshot) in the action that changes the record.`,
    );
}

/** Lists what `pnpm new` left to a person. */
export async function checkUnfinished(): Promise<CommandResult> {
  const listed = await run('git', ['grep', '--untracked', '-lzI', 'FILL IN: ', '--', '.', ...excluded]);
  // Git exits with 1 and no output if no file matches.
  if (!listed.succeeded && listed.output !== '') return listed;
  const paths = listed.stdout.split('\0').filter((path) => path !== '');
  const types = Object.keys(JSON.parse(read('packages/webhook-events/versions.json').text));
  const actions = globSync('packages/actions/src/**/*.ts', { cwd: workspaceRoot })
    .filter((path) => !path.endsWith('.test.ts'))
    .map(read);
  const left = [...findInstructions(paths.map(read)), ...findTypesWithoutAction(types, actions)];
  return { succeeded: left.length === 0, output: left.map((line) => `${line}\n`).join('') };
}

function read(path: string): Place {
  return { path, text: readFileSync(join(workspaceRoot, path), 'utf8') };
}
