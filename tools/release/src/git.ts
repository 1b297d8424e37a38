import { run } from '@deedwire/checks';
import { succeed } from './release-error.ts';

/**
 * Runs git in a repository and returns its output.
 *
 * @throws {ReleaseError} if git fails
 */
export async function git(root: string, ...gitArguments: string[]): Promise<string> {
  const { stdout } = await succeed(`git ${gitArguments.join(' ')} failed`, run('git', gitArguments, root));
  return stdout;
}

export async function allTags(root: string): Promise<Set<string>> {
  return new Set((await git(root, 'tag', '--list')).split('\n').filter((tag) => tag !== ''));
}

/** The day on which HEAD was committed, `YYYY-MM-DD` in UTC. */
export async function dayOfCommit(root: string): Promise<string> {
  const seconds = Number(await git(root, 'log', '-1', '--format=%ct'));
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
