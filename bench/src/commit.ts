import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What `--save` writes. It changes nothing that is measured. */
const SAVED = ['bench/results', 'docs'];

/** The first digits of the commit of a checkout, with `-dirty` after it if files differ that a bench can run. */
export function currentCommit(folder = new URL('../../', import.meta.url)): string {
  const git = (...options: string[]): string =>
    execFileSync('git', ['-C', fileURLToPath(folder), ...options], { encoding: 'utf8' }).trim();
  const commit = git('rev-parse', '--short=8', 'HEAD');
  const paths = [':/', ...SAVED.map((path) => `:(top,exclude)${path}`)];
  const changes = git('status', '--porcelain', '--untracked-files=no', '--', ...paths);
  return changes === '' ? commit : `${commit}-dirty`;
}
