import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDefault, type Layout } from '@deedwire/layout';
import { CannotStartError } from './command-line.ts';
import type { DevFile } from './dev-file.ts';
import { homeState, type HomeState } from './dev-state.ts';
import { workspaceRoot } from './workspace.ts';

export type Home = Awaited<ReturnType<typeof openHome>>;

/**
 * The folder of `pnpm dev` for a service, unless DEEDWIRE_HOME names another one: the data of two services are apart.
 *
 * @param layout of the service
 */
export function homeOf(layout: Layout): string {
  return join(workspaceRoot, isDefault(layout) ? '' : layout.root, '.local');
}

/**
 * Locks the folder for this process and removes the files that a killed `pnpm dev` left in it.
 *
 * @param interfaceNames the account of the first one is in `dev.env`
 * @throws {CannotStartError} if another `pnpm dev` uses the folder, or if it cannot be written
 */
export async function openHome(directory: string, [first, ...others]: readonly string[]) {
  try {
    await mkdir(directory, { recursive: true });
    // It has secrets, and can be in another repository.
    await writeFile(join(directory, '.gitignore'), '*\n');
    lock(join(directory, 'lock'));
  } catch (cause) {
    throw new CannotStartError(
      isLocked(cause)
        ? `Another \`pnpm dev\` is running in ${directory}. Stop it, or set DEEDWIRE_HOME to another folder for this one.`
        : `Cannot write to ${directory} (${cause instanceof Error ? cause.message : String(cause)}). Set DEEDWIRE_HOME to a folder that you can write to.`,
      { cause },
    );
  }
  /** It exists while everything is running. */
  const devFile = join(directory, 'dev.json');
  /** They hold shell variables, and exist whenever `dev.json` does. */
  const variablesFiles = new Map([
    [first ?? '', join(directory, 'dev.env')],
    ...others.map((name) => [name, join(directory, `${name}.env`)] as const),
  ]);
  const stateFile = join(directory, 'state.json');
  async function removeDevFiles(): Promise<void> {
    await rm(devFile, { force: true });
    for (const path of variablesFiles.values()) await rm(path, { force: true });
  }
  await removeDevFiles();
  const state = await readState(stateFile);
  return {
    directory,
    /** The data directory of the embedded server. */
    postgresDirectory: join(directory, 'postgres'),
    state,
    variablesFiles,
    saveState: () => writePrivately(stateFile, toJson(state)),
    async writeDevFiles(content: DevFile, variables: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, path] of variablesFiles) await writePrivately(path, variables[name] ?? '');
      // Last: scripts wait for this file.
      await writePrivately(devFile, toJson(content));
    },
    removeDevFiles,
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
