import { readFile } from 'node:fs/promises';
import { db } from './tables.ts';

// In place of your own migrations.
await db.$client.query(await readFile(new URL('../tables.sql', import.meta.url), 'utf8'));
await db.$client.end();
