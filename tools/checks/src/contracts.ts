import { run, type CommandResult } from './run.ts';

interface ContractCheckOptions {
  /** Baselines to use instead of the last release in git. */
  readonly tarballs?: readonly string[];
  /** The day of the release, `YYYY-MM-DD` in UTC. Defaults to the current day. */
  readonly today?: string;
}

/** Runs `contract-check workspace`: compares the contracts of every contract package with its last release. Notices and exceptions are warnings. */
export async function checkContracts({ tarballs = [], today }: ContractCheckOptions = {}): Promise<CommandResult> {
  const baselines = tarballs.flatMap((tarball) => ['--baseline', tarball]);
  const day = today === undefined ? [] : ['--today', today];
  const bin = 'packages/contract-check/src/bin.ts';
  const result = await run('node', [bin, 'workspace', ...baselines, ...day]);
  const warnings = /^(?:Notices:|Exceptions in )[\s\S]*\n\n/m.exec(result.stdout)?.[0] ?? '';
  return { ...result, warnings };
}
