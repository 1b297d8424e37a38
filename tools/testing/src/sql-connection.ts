import { Client } from 'pg';

/** One database connection. Statements run one after the other. */
export interface Connection {
  run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function connect(databaseUrl: string): Promise<Connection> {
  const client = new Client({ connectionString: databaseUrl });
  // Without a listener, an error of the idle connection would end the process. The next statement reports the error.
  client.on('error', () => {});
  await client.connect();
  return {
    async run(sql, values = []) {
      const { rows } = await client.query<Record<string, unknown>>(sql, [...values]);
      return rows;
    },
    close: () => client.end(),
  };
}
