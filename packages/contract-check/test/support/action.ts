import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { command, packageFolder } from './packed-package.ts';

const action: {
  inputs: Record<string, { default?: string }>;
  outputs: Record<string, object>;
  runs: { using: string; main: string };
} = parse(readFileSync(join(packageFolder, 'action/action.yml'), 'utf8'));
const defaults = Object.fromEntries(
  Object.entries(action.inputs).flatMap(([name, input]) =>
    input.default === undefined ? [] : [[name, input.default]],
  ),
);

/** What action.yml declares. */
export const declared = {
  ...action.runs,
  defaults: Object.keys(defaults),
  inputs: Object.keys(action.inputs),
  outputs: Object.keys(action.outputs),
};

export const entry = join(packageFolder, 'action', declared.main);

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
