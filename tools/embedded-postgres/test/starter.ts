/** Starts a server, sends its data directory to the parent, and runs until it is killed. */
import { withClient } from '../src/database.ts';
import { startPostgres } from '../src/index.ts';

const server = await startPostgres();
const { rows } = await withClient(server.url, (client) =>
  client.query<{ data_directory: string }>('SHOW data_directory'),
);
process.send?.(rows[0]?.data_directory);
