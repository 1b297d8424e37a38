import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * The first digits of the commit of a checkout, with `-dirty` after it if its files differ.
 *
 * @param folder of this checkout by default
 */
export function currentCommit(folder = new URL('../../', import.meta.url)): string {
  const options = ['describe', '--always', '--abbrev=8', '--exclude=*', '--dirty'];
  return execFileSync('git', ['-C', fileURLToPath(folder), ...options], { encoding: 'utf8' }).trim();
}
