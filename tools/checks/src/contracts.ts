import { run, type CommandResult } from './run.ts';

/**
 * Compares what every contract package promises with its last release, by `contract-check workspace`: with `released/`, or
 * with the tarballs given.
 */
export function checkContracts(tarballs: readonly string[] = []): Promise<CommandResult> {
  const baselines = tarballs.flatMap((tarball) => ['--baseline', tarball]);
  const bin = 'packages/contract-check/src/bin.ts';
  return run('node', [bin, 'workspace', ...baselines]);
}
