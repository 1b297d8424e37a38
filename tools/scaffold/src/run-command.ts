import { run, workspaceRoot } from '@deedwire/checks';
import { planChanges } from './changes.ts';
import { planCommand, usage } from './command.ts';
import { ScaffoldError } from './scaffold-error.ts';

/**
 * Runs `pnpm new`: plans, writes, formats and generates, with a line for each step.
 *
 * @returns the exit code: 0, 1 if a generator failed, or 2 if the command refused and wrote nothing
 */
export async function runCommand(commandLine: readonly string[], print: (text: string) => void): Promise<number> {
  const changes = planChanges(workspaceRoot);
  let summary: string;
  try {
    const plan = planCommand(changes, commandLine, new Date().toISOString().slice(0, 10));
    if (plan.kind === 'help') {
      print(usage);
      return 0;
    }
    summary = plan.summary;
  } catch (error) {
    if (!(error instanceof ScaffoldError)) throw error;
    print(`${error.message}\nNothing was written.\n`);
    return 2;
  }
  print(`${summary}\n\n`);
  changes.write();
  print(changes.created.map((path) => `  new      ${path}\n`).join(''));
  print(changes.edited.map((path) => `  changed  ${path}\n`).join(''));

  const paths = [...changes.created, ...changes.edited];
  const formatted = await run('oxfmt', ['--no-error-on-unmatched-pattern', ...paths]);
  print(formatted.succeeded ? '\nFormatted.\n' : `\nThe formatter failed:\n${formatted.output}`);
  const generation = await run('node', ['--conditions=deedwire-source', 'tools/generate/src/main.ts']);
  if (!generation.succeeded) {
    print(
      `The files are written, but a generator failed. Fix what it names, then run pnpm generate.\n${generation.output}`,
    );
    return 1;
  }
  print(
    'Generated the published files, the fixtures and the reference.\n\nNext: `pnpm check` lists what is left to fill in.\n',
  );
  return formatted.succeeded ? 0 : 1;
}
