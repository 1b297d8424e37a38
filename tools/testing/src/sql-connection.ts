import { Client } from 'pg';

export type Connection = Awaited<ReturnType<typeof connect>>;

/** Opens one database connection. Statements run one after the other. */
export async function connect(databaseUrl: string) {
  const client = new Client({ connectionString: databaseUrl });
  // Without a listener, an error of the idle connection would end the process. The next statement reports the error.
  client.on('error', () => {});
  await client.connect();
  return {
    async run(sql: string, values: readonly unknown[] = []): Promise<Record<string, unknown>[]> {
      const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
      return rows;
    },
    close: () => client.end(),
  };
}

/** Runs a statement on a new connection, because a fault may have ended an idle one. */
export async function runOnce(
  databaseUrl: string,
  sql: string,
  values?: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  const connection = await connect(databaseUrl);
  try {
    return await connection.run(sql, values);
  } finally {
    await connection.close();
  }
}
