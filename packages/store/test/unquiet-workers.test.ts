import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, expect, test } from 'vitest';
import { selectUnquietWorkers } from '../src/cell-splits.ts';
import { createStore, type Database } from '../src/index.ts';
import { createMigratedDatabase } from './support/database.ts';

const { databaseUrl } = await forFile(createMigratedDatabase());
const store = await forFile(createStore({ databaseUrl, applicationName: 'test' }));
const run = (text: string) => store.query({ name: '', text }, []);

await run(`insert into organization (id, name) values (1, 'Harbour')`);
await run(`insert into account (id, interface, organization_id, name) values (2, 'partner', 1, 'Keystone')`);
await run('insert into account_home (account_id, cell, frozen_at) values (2, 1, now())');

beforeEach(async () => {
  await run('delete from webhook_worker');
  await run(`insert into webhook_worker (name, leased_until) values ('suspended', now() + interval '1 hour')`);
});

test.each([1, 2, 3])('a freeze waits for a worker whose lease expires before statement %i of its poll', async (nth) => {
  let statements = 0;
  const query: Database['query'] = async (...statement) => {
    statements += 1;
    if (statements === nth) await run(`update webhook_worker set leased_until = now() - interval '1 ms'`);
    return store.query(...statement);
  };
  for (let poll = 1; poll <= 2; poll += 1) expect(await selectUnquietWorkers({ query }, 0)).toEqual(['suspended']);
});
