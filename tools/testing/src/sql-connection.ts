import { Client } from 'pg';

/** One database connection. Its statements run one after the other. */
export interface Connection {
  run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

export async function connect(databaseUrl: string): Promise<Connection> {
  const client = new Client({ connectionString: databaseUrl });
  // A connection that the server ends while idle: the next statement fails and reports it.
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
