import { run, type CommandResult } from './run.ts';

/**
 * Runs `contract-check workspace`: compares the contracts of every contract package with its last release.
 *
 * @param tarballs baselines to use instead of `released/`
 */
export function checkContracts(tarballs: readonly string[] = []): Promise<CommandResult> {
  const baselines = tarballs.flatMap((tarball) => ['--baseline', tarball]);
  const bin = 'packages/contract-check/src/bin.ts';
  return run('node', [bin, 'workspace', ...baselines]);
}
