import { existsSync } from 'node:fs';
import { failAt } from '../input-error.ts';
import { ownMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { readSourceText } from '../text-file.ts';
import type { Repository } from './repository.ts';

/** The variables of a GitHub workflow that name the target of a pull request. */
export interface WorkflowEnvironment {
  readonly GITHUB_ACTIONS?: string | undefined;
  readonly GITHUB_BASE_REF?: string | undefined;
  readonly GITHUB_EVENT_NAME?: string | undefined;
  readonly GITHUB_EVENT_PATH?: string | undefined;
  /** The branch or tag that was pushed. */
  readonly GITHUB_REF_NAME?: string | undefined;
  /** `branch` or `tag` */
  readonly GITHUB_REF_TYPE?: string | undefined;
}

/**
 * `target`: the newest commit of the branch into which the changes will be merged. `warning`: null if the commit is what the
 * changes will be merged into.
 */
export type MergeBase = ReturnType<typeof findMergeBase>;

/** How to fetch what a shallow clone lacks. */
export const unshallow =
  'Fetch the history: git fetch --unshallow --tags. In a GitHub workflow, set fetch-depth: 0 for actions/checkout.';

/**
 * Finds the commit at which the changes in the working tree begin: the merge base with `ref`, or with the target of the pull
 * request in a GitHub workflow, or with `origin/HEAD`. Without a remote, it is HEAD.
 *
 * @param ref null for the default
 */
export function findMergeBase(repository: Repository, ref: string | null, environment: WorkflowEnvironment) {
  const { name, warning } = ref === null ? defaultBase(repository, environment) : { name: ref, warning: null };
  const target = repository.commitOf(name);
  if (target === null) {
    failAt(
      `--base ${name}`,
      repository.isShallow
        ? `the clone is shallow and does not contain this commit. ${unshallow}`
        : `no such commit. Fetch it, for example: git fetch origin ${name.replace(/^origin\//, '')}`,
    );
  }
  const [commit, another] = target === repository.head ? [target] : repository.mergeBases(target);
  // Which one git names first depends on the dates that their authors gave them.
  if (another !== undefined)
    failAt(
      `--base ${name}`,
      'and HEAD have several merge bases, so it is unclear which contracts HEAD began with. Merge the target into HEAD, or rebase HEAD onto it.',
    );
  if (commit !== undefined) return { commit, target, warning };
  failAt(
    `--base ${name}`,
    repository.isShallow
      ? `the clone is shallow and does not contain the commit at which HEAD left it. ${unshallow}`
      : 'has no commit in common with HEAD. Name the branch into which the changes will be merged.',
  );
}

function defaultBase(repository: Repository, environment: WorkflowEnvironment) {
  const { GITHUB_ACTIONS, GITHUB_BASE_REF, GITHUB_EVENT_NAME } = environment;
  if (GITHUB_BASE_REF) return { name: `origin/${GITHUB_BASE_REF}`, warning: null };
  if (GITHUB_EVENT_NAME === 'merge_group') {
    // The commit onto which a merge queue puts its pull requests.
    const name = textInEvent(environment, 'merge_group', 'base_sha');
    if (name === null) failAt('--base', 'the merge queue does not name its base. Pass --base origin/main.');
    return { name, warning: null };
  }
  // A workflow without a target runs on commits that are already merged.
  if (GITHUB_ACTIONS === 'true') return { name: 'HEAD', warning: warningOfPush(environment) };
  if (repository.commitOf('refs/remotes/origin/HEAD') !== null)
    return { name: 'refs/remotes/origin/HEAD', warning: null };
  if (repository.git('remote').trim() === '') {
    return {
      name: 'HEAD',
      warning:
        'The repository has no remote, so HEAD counts as merged: its list of contracts, settings and exceptions apply. Name the target of your changes with --base.',
    };
  }
  failAt(
    '--base',
    'the target of the changes is unknown, because refs/remotes/origin/HEAD does not exist. Pass --base origin/main, or run: git remote set-head origin --auto',
  );
}

/** A push to another branch than the main one is often checked before a pull request exists. */
function warningOfPush(environment: WorkflowEnvironment): string | null {
  const { GITHUB_EVENT_NAME, GITHUB_REF_NAME, GITHUB_REF_TYPE } = environment;
  const main = textInEvent(environment, 'repository', 'default_branch');
  if (GITHUB_EVENT_NAME !== 'push' || GITHUB_REF_TYPE !== 'branch' || main === null || main === GITHUB_REF_NAME)
    return null;
  return `The workflow runs for a push to ${GITHUB_REF_NAME ?? 'a branch'}, so HEAD counts as merged: its list of contracts, settings and exceptions apply. Run the check for pull requests, or name the target of the changes, for example with --base origin/${main}.`;
}

/** A text in the event that started the workflow. Null if the event does not have it. */
function textInEvent({ GITHUB_EVENT_PATH = '' }: WorkflowEnvironment, section: string, member: string): string | null {
  if (!existsSync(GITHUB_EVENT_PATH)) return null;
  const { value } = parseJson(readSourceText(GITHUB_EVENT_PATH));
  const found = ownMember(ownMember(value, section), member);
  return typeof found === 'string' ? found : null;
}
