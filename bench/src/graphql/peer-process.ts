/**
 * Runs one peer in this process: `peer-process.ts <name> <URL of the database>`. Its first message is the URL that it serves;
 * then it sends its usage for each message. The process ends when its parent disconnects.
 */
import { Pool } from 'pg';
import type { ProcessUsage } from '../app-process.ts';
import { peers } from './peers/index.ts';

const [name = '', databaseUrl = ''] = process.argv.slice(2);
const start = new Map(Object.entries(peers)).get(name);
if (start === undefined) throw new Error(`There is no peer "${name}".`);
const url = await start(new Pool({ connectionString: databaseUrl }));

function usage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() };
}

process.on('message', () => process.send?.(usage()));
process.once('disconnect', () => process.exit(0));
process.send?.(url);
