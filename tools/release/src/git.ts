import { run } from '@deedwire/checks';
import { ReleaseError } from './release-error.ts';

/**
 * Runs git and returns its output.
 *
 * @throws {ReleaseError} if git fails
 */
export async function git(...gitArguments: string[]): Promise<string> {
  const { succeeded, stdout, output } = await run('git', gitArguments);
  if (!succeeded) throw new ReleaseError(`git ${gitArguments.join(' ')}: ${output.trim()}`);
  return stdout;
}

/** The tags that are reachable from HEAD. */
export async function reachableTags(): Promise<Set<string>> {
  return new Set((await git('tag', '--merged', 'HEAD')).split('\n').filter((tag) => tag !== ''));
}

export async function allTags(): Promise<Set<string>> {
  return new Set((await git('tag', '--list')).split('\n').filter((tag) => tag !== ''));
}

/** The day on which HEAD was committed, `YYYY-MM-DD` in UTC. */
export async function dayOfCommit(): Promise<string> {
  const seconds = Number(await git('log', '-1', '--format=%ct'));
  return new Date(seconds * 1000).toISOString().slice(0, 10);
}
