import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '../input-error.ts';
import { hasLockfile } from '../source/package-manager.ts';
import { readSourceText } from '../text-file.ts';
import { isVerdict, type Verdict } from '../verdict.ts';

/**
 * Reads the bump that Changesets will release for each package. It includes the bumps of `fixed` and `linked` groups and
 * of dependents. Empty if there is no `.changeset` folder.
 *
 * @throws {InputError} when a changeset or the configuration of Changesets is invalid.
 */
export async function readDeclaredBumps(root: string): Promise<Map<string, Verdict>> {
  const folder = join(root, '.changeset');
  if (!existsSync(folder)) return new Map();
  const config = join(folder, 'config.json');
  if (!existsSync(config)) throw new InputError(config, null, 'file not found. Run `changeset init`.');
  // Loaded here, because comparing two files does not need it.
  const { getReleasePlan } = await import('@changesets/get-release-plan');
  try {
    const { releases } = await getReleasePlan(root);
    return new Map(releases.map(({ name, type }) => [name, isVerdict(type) ? type : 'none']));
  } catch (error) {
    throw await placed(folder, error);
  }
}

/** Changesets does not name the file in its errors, so this finds it. */
async function placed(folder: string, error: unknown): Promise<InputError> {
  const { parseChangesetFile } = await import('@changesets/parse');
  const message = messageOf(error);
  // Changesets recognizes the workspaces of a package manager by its lockfile.
  const manifest = join(folder, '../package.json');
  if (message.includes('not in the workspace') && existsSync(manifest) && !hasLockfile(join(folder, '..'))) {
    const { text } = readSourceText(manifest);
    const remedy = 'Create one, for example with npm install --package-lock-only.';
    if (text.includes('"workspaces"'))
      return new InputError(
        manifest,
        lineOf(text, '"workspaces"'),
        `lists workspaces, but Changesets finds them only beside a lockfile. ${remedy}`,
        { cause: error },
      );
  }
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.md') && !/^readme\.md$/i.test(each))) {
    const { file, text } = readSourceText(join(folder, name));
    try {
      const { releases } = parseChangesetFile(text);
      const unknown = releases.find((release) => message.includes(` ${release.name} `));
      if (unknown !== undefined || message.includes(name.slice(0, -'.md'.length)))
        return new InputError(file, lineOf(text, unknown?.name ?? '---'), message, { cause: error });
    } catch (invalid) {
      return new InputError(file, lineOfProblem(text, messageOf(invalid)), messageOf(invalid), { cause: invalid });
    }
  }
  return new InputError(join(folder, 'config.json'), null, message, { cause: error });
}

/** The first line, without the name of the operation. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^could not parse changeset - /, '').split('\n', 1)[0] ?? '';
}

/** The line of the first text that a message quotes. The first line if there is none. */
function lineOfProblem(text: string, message: string): number {
  const quoted = [...message.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? '').find((name) => text.includes(name));
  return quoted === undefined ? 1 : lineOf(text, quoted);
}

function lineOf(text: string, part: string): number {
  return text.slice(0, Math.max(0, text.indexOf(part))).split('\n').length;
}
