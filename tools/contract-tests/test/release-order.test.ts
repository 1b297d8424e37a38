import { testService } from '@deedwire/core/test-service';
import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { createLogger, doWaitingWork } from '@deedwire/service-runtime';
import { forFile } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());
await harness.sql(`insert into webhook_worker (name, leased_until) values ('w', now() + interval '1 hour')`);

/** Stores what the build of a running worker renders. Returns the digest of its contracts. */
async function run(version: string, types: readonly string[]): Promise<string> {
  const contracts = JSON.stringify({
    app: 'webhook-worker',
    renders: types.map((type) => ({ event: `${type}@2026-11-01` })),
  });
  const [build] = await harness.sql(
    `with build as (
       insert into app_contracts (digest, app, contracts)
       values (encode(sha256(convert_to($1, 'UTF8')), 'hex'), 'webhook-worker', $1) returning digest
     )
     insert into app_process (id, app, version, digest, started_at, last_seen_at)
     select gen_random_uuid(), 'webhook-worker', $2, digest, now(), now() from build
     returning digest`,
    [contracts, version],
  );
  return String(build?.['digest']);
}

const env = { DATABASE_URL: await harness.database.urlFor('operator') };
const typesOf = (name: string): string[] =>
  testService.events.filter(({ interfaces }) => interfaces.join() === name).map(({ type }) => type);
const others = testService.events.map(({ type }) => type).filter((type) => !typesOf('customer').includes(type));

test('an app waits for a worker that knows its interface, and then warns of those that do not', async () => {
  const digest = await run('1.0.0', others);
  const problem = `the webhook-worker 1.0.0 with the contracts ${digest} runs and does not know the customer interface; deploy the webhook-worker before customer-api`;
  const logged: string[] = [];
  const logger = createLogger(
    { name: 'test', level: 'warn', service: testService },
    { write: (line) => logged.push(line) },
  );
  const customer = await harness.startApi('customer', {}, undefined, { logger });
  const ready = async (): Promise<unknown> => (await fetch(`${customer.adminUrl}/ready`)).json();
  await expect.poll(ready).toMatchObject({ problems: [problem] });
  const checked = await callOperator(env, 'database', 'check', '--json');
  expect(checked.exitCode).toBe(1);
  expect(JSON.parse(checked.stdout)).toMatchObject({ problems: [problem], warnings: [] });
  // It knows an event of this one.
  await (
    await harness.startApi('supplier')
  ).whenReady;

  await run('1.1.0', [...others, ...typesOf('customer')]);
  await customer.whenReady;
  const lacking = typesOf('customer').toSorted().join(', ');
  const warning = `the webhook-worker 1.0.0 with the contracts ${digest} runs and does not render ${lacking}: these events wait while it has their accounts; replace it`;
  doWaitingWork();
  const warned = logged.filter((line) => line.includes('"warnings"')).map((line): unknown => JSON.parse(line));
  expect(warned).toMatchObject([{ warnings: [warning] }]);
  expect(await callOperator(env, 'database', 'check')).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(`warning: ${warning}.`),
  });
});

test('contracts that a login of the worker stores keep no app from becoming ready', async () => {
  await harness.sql('delete from app_process');
  await harness.sql('delete from app_contracts');
  await run('1.1.0', typesOf('customer'));
  for (const renders of ['5', 'null', '[]']) {
    const contracts = `{"app": "webhook-worker", "renders": ${renders}}`;
    await harness.sql(`select store_app_contracts('webhook-worker', $1)`, [contracts]);
    await harness.sql(
      `select register_process('webhook-worker', gen_random_uuid(), E'9.9.9\\nforged', encode(sha256(convert_to($1, 'UTF8')), 'hex'))`,
      [contracts],
    );
  }
  const customer = await harness.startApi('customer');
  await customer.whenReady;
  expect((await fetch(`${customer.adminUrl}/ready`)).status).toBe(200);
});
