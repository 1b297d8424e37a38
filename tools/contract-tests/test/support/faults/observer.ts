import { connect, type Connection } from '@deedwire/testing';

/** Runs each statement as a superuser on a new connection, because a fault may have ended an idle one. */
export type Observer = Pick<Connection, 'run'>;

export function createObserver(databaseUrl: string): Observer {
  return {
    async run(text, values) {
      const connection = await connect(databaseUrl);
      try {
        return await connection.run(text, values);
      } finally {
        await connection.close();
      }
    },
  };
}
