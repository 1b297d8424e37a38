import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startPostgres } from '@deedwire/embedded-postgres';
import { workspaceRoot } from '../workspace.ts';
import { baseline, composeBaseline } from './compose-baseline.ts';

const server = await startPostgres();
try {
  const file = join(workspaceRoot, 'packages/store/migrations', `${baseline}.sql`);
  await writeFile(file, await composeBaseline(server.url));
} finally {
  await server.stop();
}
