import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CannotStartError } from './cannot-start-error.ts';
import type { DevFile } from './dev-file.ts';
import { homeState, type HomeState } from './dev-state.ts';

export interface Home {
  directory: string;
  /** The data directory of the embedded server. */
  postgresDirectory: string;
  state: HomeState;
  saveState(): Promise<void>;
  /** Path of `dev.json`. It exists while everything is running. */
  devFile: string;
  /** Path of `dev.env`, which holds shell variables. It exists whenever `dev.json` does. */
  variablesFile: string;
  writeDevFiles(content: DevFile, variables: string): Promise<void>;
  removeDevFiles(): Promise<void>;
}

/**
 * Locks the folder for this process and removes the files that a killed `pnpm dev` left in it.
 *
 * @throws {CannotStartError} if another `pnpm dev` uses the folder
 */
export async function openHome(directory: string): Promise<Home> {
  await mkdir(directory, { recursive: true });
  lock(join(directory, 'lock'), directory);
  const devFile = join(directory, 'dev.json');
  const variablesFile = join(directory, 'dev.env');
  const stateFile = join(directory, 'state.json');
  async function removeDevFiles(): Promise<void> {
    await rm(devFile, { force: true });
    await rm(variablesFile, { force: true });
  }
  await removeDevFiles();
  const state = await readState(stateFile);
  return {
    directory,
    postgresDirectory: join(directory, 'postgres'),
    state,
    devFile,
    variablesFile,
    saveState: () => writePrivately(stateFile, toJson(state)),
    async writeDevFiles(content, variables) {
      await writePrivately(variablesFile, variables);
      // Last: scripts wait for this file.
      await writePrivately(devFile, toJson(content));
    },
    removeDevFiles,
  };
}

/** The operating system releases a file lock when the process ends. Node cannot lock files; SQLite can. */
function lock(path: string, directory: string): void {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    throw new CannotStartError(
      `Another \`pnpm dev\` is running in ${directory}. Stop it, or set DEEDWIRE_HOME to another folder for this one.`,
      { cause },
    );
  }
  heldLocks.push(database);
}

// A lock is released when its handle is garbage-collected.
const heldLocks: DatabaseSync[] = [];

async function readState(path: string): Promise<HomeState> {
  try {
    return homeState.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { postgresPassword: randomBytes(24).toString('base64url'), databases: {} };
    }
    throw new CannotStartError(
      `${path} does not have the form that \`pnpm dev\` writes. Remove the folder to start with a new database.`,
      { cause: error },
    );
  }
}

function toJson(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Replaces the file atomically. Only the owner may read it, because it contains secrets. */
async function writePrivately(path: string, content: string): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, content, { mode: 0o600 });
  await rename(unfinished, path);
}
