/**
 * Runs one peer in this process: `peer-process.ts <name> <URL of the database>`. Its first message is the URL that it serves;
 * then it sends its usage for each message. The process ends when its parent disconnects.
 */
import { Pool } from 'pg';
import { ownUsage } from '../own-usage.ts';
import { peers } from './peers/index.ts';

const [name = '', databaseUrl = ''] = process.argv.slice(2);
const start = new Map(Object.entries(peers)).get(name);
if (start === undefined) throw new Error(`There is no peer "${name}".`);
const url = await start(new Pool({ connectionString: databaseUrl }));

process.on('message', () => process.send?.(ownUsage()));
process.once('disconnect', () => process.exit(0));
process.send?.(url);
