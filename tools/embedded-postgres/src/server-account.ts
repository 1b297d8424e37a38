import { spawn, type ChildProcess, type SpawnOptions, spawnSync } from 'node:child_process';
import { chown, stat } from 'node:fs/promises';

/** PostgreSQL does not run as root, so root runs it as this user, which exists on every Unix. */
const unprivilegedUser = 'nobody';

/** If root owns `dataDirectory`, transfers it to the user that runs the server. */
export async function ownDataDirectory(dataDirectory: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid } = await stat(dataDirectory);
  if (uid !== 0) return;
  await chown(dataDirectory, idOf('-u'), idOf('-g'));
}

/** Spawns a server program as the owner of `dataDirectory`. */
export async function spawnAsOwner(
  dataDirectory: string,
  program: string,
  programArguments: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcess> {
  if (process.getuid?.() !== 0) return spawn(program, programArguments, options);
  const { uid, gid } = await stat(dataDirectory);
  if (process.platform !== 'linux') return spawn(program, programArguments, { ...options, uid, gid });
  // CAP_DAC_OVERRIDE lets the server read its binaries and data in a directory that only root can enter, for example a
  // checkout in /root or the result of `mktemp -d`. Without no_setuid_fixup, access(2) would ignore the capability.
  const capability = ['--inh-caps', '+dac_override', '--ambient-caps', '+dac_override'];
  const privileges = ['--securebits', '+no_setuid_fixup', ...capability];
  const identity = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  return spawn('setpriv', [...identity, ...privileges, program, ...programArguments], options);
}

function idOf(flag: '-u' | '-g'): number {
  const { error, status, stdout } = spawnSync('id', [flag, unprivilegedUser], { encoding: 'utf8' });
  if (error) throw error;
  if (status === 0) return Number(stdout);
  throw new Error(
    `PostgreSQL does not run as root, and the user "${unprivilegedUser}" does not exist. Run this command as a user other than root.`,
  );
}
