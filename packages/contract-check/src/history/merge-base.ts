import { readFileSync } from 'node:fs';
import { InputError } from '../input-error.ts';
import type { Repository } from './repository.ts';

/** The variables of a GitHub workflow that name the target of a pull request. */
export interface WorkflowEnvironment {
  readonly GITHUB_ACTIONS?: string | undefined;
  readonly GITHUB_BASE_REF?: string | undefined;
  readonly GITHUB_EVENT_NAME?: string | undefined;
  readonly GITHUB_EVENT_PATH?: string | undefined;
}

export interface MergeBase {
  readonly commit: string;
  /** The newest commit of the branch into which the changes will be merged. */
  readonly target: string;
  /** Null if the commit is what the changes will be merged into. */
  readonly warning: string | null;
}

/** How to fetch what a shallow clone lacks. */
export const unshallow =
  'Fetch the history: git fetch --unshallow --tags. In a GitHub workflow, set fetch-depth: 0 for actions/checkout.';

/**
 * Finds the commit at which the changes in the working tree begin: the merge base with `ref`, or with the target of the pull
 * request in a GitHub workflow, or with `origin/HEAD`. Without a remote, it is HEAD.
 *
 * @param ref null for the default
 * @throws {InputError} when the clone does not contain the commit.
 */
export function findMergeBase(repository: Repository, ref: string | null, environment: WorkflowEnvironment): MergeBase {
  const { name, warning } = ref === null ? defaultBase(repository, environment) : { name: ref, warning: null };
  const target = repository.commitOf(name);
  if (target === null) {
    throw new InputError(
      `--base ${name}`,
      null,
      repository.isShallow
        ? `the clone is shallow and does not contain this commit. ${unshallow}`
        : `no such commit. Fetch it, for example: git fetch origin ${name.replace(/^origin\//, '')}`,
    );
  }
  const [commit] = target === repository.head ? [target] : mergeBases(repository, target);
  if (commit !== undefined) return { commit, target, warning };
  throw new InputError(
    `--base ${name}`,
    null,
    repository.isShallow
      ? `the clone is shallow and does not contain the commit at which HEAD left it. ${unshallow}`
      : 'has no commit in common with HEAD. Name the branch into which the changes will be merged.',
  );
}

function mergeBases(repository: Repository, target: string): string[] {
  try {
    return repository.git('merge-base', target, 'HEAD').split('\n').filter(Boolean);
  } catch (error) {
    // git fails without a message if there is none.
    if (error instanceof InputError) return [];
    throw error;
  }
}

function defaultBase(
  repository: Repository,
  { GITHUB_ACTIONS, GITHUB_BASE_REF, GITHUB_EVENT_NAME, GITHUB_EVENT_PATH }: WorkflowEnvironment,
): { readonly name: string; readonly warning: string | null } {
  if (GITHUB_BASE_REF) return { name: `origin/${GITHUB_BASE_REF}`, warning: null };
  if (GITHUB_EVENT_NAME === 'merge_group') return { name: baseOfMergeGroup(GITHUB_EVENT_PATH), warning: null };
  // A workflow without a target runs on commits that are already merged.
  if (GITHUB_ACTIONS === 'true') return { name: 'HEAD', warning: null };
  if (repository.commitOf('refs/remotes/origin/HEAD') !== null)
    return { name: 'refs/remotes/origin/HEAD', warning: null };
  if (repository.git('remote').trim() === '') {
    return {
      name: 'HEAD',
      warning:
        'The repository has no remote, so HEAD counts as merged: its list of contracts, settings and exceptions apply. Name the target of your changes with --base.',
    };
  }
  throw new InputError(
    '--base',
    null,
    'the target of the changes is unknown, because refs/remotes/origin/HEAD does not exist. Pass --base origin/main, or run: git remote set-head origin --auto',
  );
}

/** The commit onto which a merge queue puts its pull requests. */
function baseOfMergeGroup(eventPath = ''): string {
  try {
    const event: { merge_group: { base_sha: string } } = JSON.parse(readFileSync(eventPath, 'utf8'));
    return event.merge_group.base_sha;
  } catch (error) {
    throw new InputError('--base', null, 'the merge queue does not name its base. Pass --base origin/main.', {
      cause: error,
    });
  }
}
