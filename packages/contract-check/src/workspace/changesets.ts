import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as plan from '@changesets/assemble-release-plan';
import type * as configuration from '@changesets/config';
import type * as reader from '@changesets/read';
import type * as manypkg from '@manypkg/get-packages';
import { changesetsIn } from '../declaring.ts';
import { RepositoryError } from '../history/git.ts';
import { trackedModules } from '../history/repository.ts';
import { InputError, errorMessage, failAt } from '../input-error.ts';
import { ownMember, type JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { hasLockfile } from '../source/project.ts';
import { readSourceText } from '../text-file.ts';
import { isVerdict, type Verdict } from '../verdict.ts';

/** The bump that Changesets will release for each package, including as a dependent or in a group. Empty without `.changeset`. */
export async function readDeclaredBumps(root: string): Promise<Map<string, Verdict>> {
  const folder = join(root, '.changeset');
  if (!existsSync(folder)) return new Map();
  const config = join(folder, 'config.json');
  if (!existsSync(config)) failAt(config, 'file not found. Run `changeset init`.');
  try {
    const releases = await pendingReleases(root);
    return new Map(releases.map(({ name, type }) => [name, isVerdict(type) ? type : 'none']));
  } catch (error) {
    if (error instanceof InputError || error instanceof RepositoryError) throw error;
    throw await placed(folder, error);
  }
}

/**
 * As `changeset status` of the Changesets that the repository has installed, or of version 3 if it has none. The reader of the pre
 * mode of version 3 is not called, because it writes: it moves the files of version 2 to where version 2 does not read them.
 */
async function pendingReleases(root: string): Promise<readonly Release[]> {
  const { installed, isBefore3 } = changesetsIn(root);
  const tracked = installed === null ? undefined : trackedModules(root);
  if (tracked !== undefined)
    failAt(
      join(root, tracked),
      'is in git, so a pull request could replace the installed Changesets, whose code runs here. Remove node_modules from git.',
    );
  const require = createRequire(installed ?? import.meta.url);
  if (isBefore3) {
    if (installed === null)
      failAt(
        join(root, 'package.json'),
        'depends on Changesets 2, which is not installed, so the pending bumps are unknown. Install the dependencies first.',
      );
    const { default: getReleasePlan }: ReleasePlans = require('@changesets/get-release-plan');
    return (await getReleasePlan(root)).releases;
  }
  // Loaded here, because comparing two files does not need it.
  const load = async <T>(name: string): Promise<T> => import(pathToFileURL(require.resolve(name)).href);
  const { getPackages } = await load<typeof manypkg>('@manypkg/get-packages');
  const { readConfig } = await load<typeof configuration>('@changesets/config');
  const { readChangesets } = await load<typeof reader>('@changesets/read');
  const { assembleReleasePlan } = await load<typeof plan>('@changesets/assemble-release-plan');
  const packages = await getPackages(root);
  const { config, errors } = await readConfig(packages.rootDir, packages);
  if (config === undefined) throw new Error(errors.join(' '));
  const pre = readPreState(packages.rootDir);
  const changesets = (await readChangesets(packages.rootDir)).map((changeset) =>
    pre?.released.has(changeset.id) === true ? { ...changeset, id: `pre/${changeset.id}` } : changeset,
  );
  return assembleReleasePlan(changesets, packages, config, pre?.state).releases;
}

interface Release {
  readonly name: string;
  readonly type: string;
}

/** The library of version 2. */
interface ReleasePlans {
  readonly default: (root: string) => Promise<{ readonly releases: readonly Release[] }>;
}

/** The pre mode, and the changesets that an earlier pre-release contains (Changesets 3 moves them to `pre/`). Null without it. */
function readPreState(root: string) {
  const file = join(root, '.changeset/pre.json');
  if (!existsSync(file)) return null;
  const { value } = parseJson(readSourceText(file));
  const [mode, tag, released] = (['mode', 'tag', 'changesets'] as const).map((name) => ownMember(value, name));
  if ((mode !== 'pre' && mode !== 'exit') || typeof tag !== 'string')
    failAt(file, 'has no "mode" and "tag". Run `changeset pre enter`, or delete the file.');
  return { state: { mode, tag } as const, released: new Set<JsonValue>(Array.isArray(released) ? released : []) };
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

/** Without the name of the operation, and without what follows it: the content of the changeset. */
function messageOf(error: unknown): string {
  return errorMessage(error)
    .replace(/^could not parse changeset - (.*)[^]*/, '$1')
    .replaceAll(/\s*\n\s*/g, ' ');
}

/** The line of the first text that a message quotes. The first line if there is none. */
function lineOfProblem(text: string, message: string): number {
  const quoted = [...message.matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? '').find((name) => text.includes(name));
  return quoted === undefined ? 1 : lineOf(text, quoted);
}

function lineOf(text: string, part: string): number {
  return text.slice(0, Math.max(0, text.indexOf(part))).split('\n').length;
}
