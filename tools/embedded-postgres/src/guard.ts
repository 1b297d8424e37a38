/**
 * The process that owns a PostgreSQL server. It runs in a separate session, so that signals to the process group of the
 * parent do not reach it. It stops the server on request and when the parent ends, even by SIGKILL.
 */
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { findFreePort } from './free-port.ts';
import { clearStaleServer } from './postmaster-pid.ts';
import { initialize, startServer, type StopMode, stopServer } from './server-process.ts';

export interface GuardOptions {
  /** An absolute path. Created if it does not exist. */
  dataDirectory: string;
  /** Removed after the server has stopped. Null if there is nothing to remove. */
  temporaryDirectory: string | null;
  /** Password of the superuser `postgres`. It takes effect only when the data directory is created. */
  password: string;
  /** Null to use any free port. */
  port: number | null;
  /** If false, committed data survives a crash of the server, but not one of the machine. Faster, for tests. */
  durable: boolean;
}

/** `start` is the first command and is sent once. Its options are not on the command line because they hold a password. */
export type GuardCommand =
  | { command: 'start'; options: GuardOptions }
  | { command: 'restart'; mode: StopMode }
  | { command: 'stop' };

export type GuardReport = { report: 'ready'; port: number } | { report: 'failed'; message: string };

const freePortAttempts = 5;

let options: GuardOptions | undefined;
let server: ChildProcess | undefined;
let stopping = false;

// Runs one step at a time, in order of arrival.
let work = Promise.resolve();
process.on('message', (command: GuardCommand) => enqueue(() => execute(command)));
for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(event, () => enqueue(() => end(0)));

function enqueue(step: () => Promise<void>): void {
  work = work.then(step).catch(fail);
}

async function execute(command: GuardCommand): Promise<void> {
  if (command.command === 'stop') await end(0);
  else if (command.command === 'restart') await restart(command.mode);
  else await prepare(command.options);
}

async function prepare(given: GuardOptions): Promise<void> {
  options = given;
  await initialize(given.dataDirectory, given.password);
  await clearStaleServer(given.dataDirectory);
  for (let attempt = 1; ; attempt += 1) {
    const port = given.port ?? (await findFreePort());
    try {
      return await start({ ...given, port });
    } catch (error) {
      // Another process may have taken the free port in the meantime.
      const taken = given.port === null && String(error).includes('could not bind');
      if (!taken || attempt === freePortAttempts) throw error;
    }
  }
}

async function start(given: GuardOptions & { port: number }): Promise<void> {
  server = await startServer(given.dataDirectory, given.port, given.durable);
  options = given;
  server.once('exit', () => {
    if (!stopping) void fail(new Error('PostgreSQL exited unexpectedly.'));
  });
  report({ report: 'ready', port: given.port });
}

async function restart(mode: StopMode): Promise<void> {
  await stop(mode);
  if (options?.port) await start({ ...options, port: options.port });
}

async function stop(mode: StopMode): Promise<void> {
  stopping = true;
  if (server) await stopServer(server, mode);
  stopping = false;
}

async function end(exitCode: number): Promise<void> {
  await stop('fast');
  if (options?.temporaryDirectory) await rm(options.temporaryDirectory, { recursive: true, force: true });
  process.exit(exitCode);
}

async function fail(error: unknown): Promise<void> {
  report({ report: 'failed', message: error instanceof Error ? error.message : String(error) });
  await end(1);
}

function report(message: GuardReport): void {
  // When the parent has ended, the channel is closed.
  if (process.connected) process.send?.(message, () => {});
}
