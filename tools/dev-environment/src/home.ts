import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DevFile } from './dev-file.ts';
import { homeState, type HomeState } from './dev-state.ts';

/** Somebody else's doing keeps `pnpm dev` from starting; the message says what to do. */
export class CannotStartError extends Error {
  override readonly name = 'CannotStartError';
}

export interface Home {
  /** Where the embedded server keeps its data. */
  postgresDirectory: string;
  state: HomeState;
  saveState(): Promise<void>;
  /** The path of `dev.json`, for whoever works with the running system. */
  devFile: string;
  writeDevFile(content: DevFile): Promise<void>;
  removeDevFile(): Promise<void>;
}

/**
 * Takes the folder for this process alone and removes what a killed one left in it.
 *
 * @throws {CannotStartError} while another `pnpm dev` uses it
 */
export async function openHome(directory: string): Promise<Home> {
  await mkdir(directory, { recursive: true });
  lock(join(directory, 'lock'), directory);
  const devFile = join(directory, 'dev.json');
  const stateFile = join(directory, 'state.json');
  await rm(devFile, { force: true });
  const state = await readState(stateFile);
  return {
    postgresDirectory: join(directory, 'postgres'),
    state,
    devFile,
    saveState: () => writePrivately(stateFile, state),
    writeDevFile: (content) => writePrivately(devFile, content),
    removeDevFile: () => rm(devFile, { force: true }),
  };
}

/** The operating system's lock on a file, which ends with the process however it ends. SQLite takes it as Node cannot. */
function lock(path: string, directory: string): void {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    throw new CannotStartError(
      `Another \`pnpm dev\` runs in ${directory}. Stop it, or set DEEDWIRE_HOME to another folder for this one.`,
      { cause },
    );
  }
  heldLocks.push(database);
}

// The lock lasts as long as its handle is reachable.
const heldLocks: DatabaseSync[] = [];

async function readState(path: string): Promise<HomeState> {
  try {
    return homeState.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return { postgresPassword: randomBytes(24).toString('base64url'), databases: {} };
    }
    throw new CannotStartError(`${path} cannot be read as what \`pnpm dev\` wrote. Remove the folder to start anew.`, {
      cause: error,
    });
  }
}

/** Whole or not at all, and for the owner's eyes: both files hold secrets. */
async function writePrivately(path: string, content: object): Promise<void> {
  const unfinished = `${path}.unfinished`;
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}
