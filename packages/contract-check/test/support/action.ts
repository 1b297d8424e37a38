import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { command, packageFolder } from './packed-package.ts';

const action = readFileSync(join(packageFolder, 'action/action.yml'), 'utf8');
const [, using = '', main = ''] = /^runs:\n {2}using: (\w+)\n {2}main: (.+)\n/m.exec(action) ?? [];
const defaults = Object.fromEntries(
  [...action.matchAll(/^ {2}([\w-]+):\n {4}description: .*\n {4}default: '?(.*?)'?$/gm)].map(([, name, value]) => [
    name,
    value,
  ]),
);

function namesIn(section: string): string[] {
  const [, lines = ''] = new RegExp(`^${section}:\\n((?:  .*\\n)+)`, 'm').exec(action) ?? [];
  return [...lines.matchAll(/^ {2}([\w-]+):$/gm)].map(([, name = '']) => name);
}

/** What action.yml declares. */
export const declared = {
  using,
  main,
  defaults: Object.keys(defaults),
  inputs: namesIn('inputs'),
  outputs: namesIn('outputs'),
};

export const entry = join(packageFolder, 'action', main);

/**
 * Runs the entry of action.yml as GitHub does: in the root of the repository, with the inputs, their defaults and the files
 * for outputs in the environment.
 *
 * @param scratch an existing folder
 */
export function runAction(scratch: string, root: string, inputs: Readonly<Record<string, string>>) {
  const temporary = mkdtempSync(join(scratch, 'runner-'));
  const [outputs, summary] = [join(temporary, 'outputs'), join(temporary, 'summary')];
  for (const file of [outputs, summary]) writeFileSync(file, '');
  const { status, stdout } = command(process.execPath, [entry], root, {
    GITHUB_WORKSPACE: root,
    GITHUB_OUTPUT: outputs,
    GITHUB_STEP_SUMMARY: summary,
    RUNNER_TEMP: temporary,
    ...Object.fromEntries(
      Object.entries({ ...defaults, ...inputs }).map(([name, value]) => [`INPUT_${name.toUpperCase()}`, value]),
    ),
  });
  return { status, stdout, outputs: readFileSync(outputs, 'utf8'), summary: readFileSync(summary, 'utf8') };
}
