import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CannotStartError } from './cannot-start-error.ts';
import { homeState, type HomeState } from './dev-state.ts';

export type Home = Awaited<ReturnType<typeof openHome>>;

/**
 * Locks the folder for this process and removes the file that a killed one left in it.
 *
 * @param command as the user writes it
 * @throws {CannotStartError} if another process uses the folder, or if it cannot be written
 */
export async function openHome(directory: string, command: string) {
  try {
    await mkdir(directory, { recursive: true });
    // It has secrets, and can be in another repository.
    await writeFile(join(directory, '.gitignore'), '*\n');
    lock(join(directory, 'lock'));
  } catch (cause) {
    throw new CannotStartError(
      isLocked(cause)
        ? `Another \`${command}\` is running in ${directory}. Stop it, or set DEEDWIRE_HOME to another folder for this one.`
        : `Cannot write to ${directory} (${cause instanceof Error ? cause.message : String(cause)}). Set DEEDWIRE_HOME to a folder that you can write to.`,
      { cause },
    );
  }
  const devFile = join(directory, 'dev.json');
  const stateFile = join(directory, 'state.json');
  const removeDevFile = (): Promise<void> => rm(devFile, { force: true });
  await removeDevFile();
  const state = await readState(stateFile, command);
  return {
    command,
    directory,
    /** The data directory of the embedded server. */
    postgresDirectory: join(directory, 'postgres'),
    state,
    saveState: () => writePrivately(stateFile, toJson(state)),
    /** `dev.json` exists while everything is running. The operator CLI reads the URL of the database in it. */
    writeDevFile: (content: { databaseUrl: string; webhookSecretKeys: string }) =>
      writePrivately(devFile, toJson(content)),
    removeDevFile,
  };
}

/** The operating system releases a file lock when the process ends. Node cannot lock files; SQLite can. */
function lock(path: string): void {
  const database = new DatabaseSync(path, { timeout: 0 });
  database.exec('BEGIN EXCLUSIVE');
  heldLocks.push(database);
}

/** Whether SQLite failed with SQLITE_BUSY. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

// A lock is released when its handle is garbage-collected.
const heldLocks: DatabaseSync[] = [];

async function readState(path: string, command: string): Promise<HomeState> {
  try {
    return homeState.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { postgresPassword: randomBytes(24).toString('base64url'), databases: {} };
    }
    throw new CannotStartError(
      `${path} does not have the form that \`${command}\` writes. Remove the folder to start with a new database.`,
      { cause: error },
    );
  }
}

function toJson(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Replaces the file atomically. Only the owner may read it, because it contains secrets. */
export async function writePrivately(path: string, content: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, content, { mode: 0o600 });
  await rename(unfinished, path);
}
