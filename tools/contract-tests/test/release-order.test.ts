import { callOperator, createHarness } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { webhookEventTypes } from '@deedwire/webhook-events';
import { expect, test } from 'vitest';

const harness = await forFile(createHarness());

/** Stores what the build of a running worker renders. */
async function run(version: string, types: readonly string[]): Promise<void> {
  const contracts = JSON.stringify({
    app: 'webhook-worker',
    renders: types.map((type) => ({ event: `${type}@2026-11-01` })),
  });
  await harness.sql(
    `with build as (
       insert into app_contracts (digest, app, contracts)
       values (encode(sha256(convert_to($1, 'UTF8')), 'hex'), 'webhook-worker', $1) returning digest
     )
     insert into app_process (id, app, version, digest, started_at, last_seen_at)
     select gen_random_uuid(), 'webhook-worker', $2, digest, now(), now() from build`,
    [contracts, version],
  );
}

test('an app and `database check` name a worker that is older than the interface', async () => {
  const env = { DATABASE_URL: await harness.database.urlFor('operator') };
  const others = webhookEventTypes.filter(({ interfaces }) => interfaces.join() !== 'lender').map(({ type }) => type);
  await run('1.0.0', others);
  const problem =
    'the webhook-worker 1.0.0 runs and does not know the lender interface; deploy the webhook-worker before lender-api';
  const lender = await harness.startApi('lender');
  const ready = async (): Promise<unknown> => (await fetch(`${lender.adminUrl}/ready`)).json();
  await expect.poll(ready).toMatchObject({ problems: [problem] });
  const checked = await callOperator(env, 'database', 'check', '--json');
  expect(checked.exitCode).toBe(1);
  expect(JSON.parse(checked.stdout)).toMatchObject({ problems: [problem] });
  // It knows an event of this one.
  await (
    await harness.startApi('partner')
  ).whenReady;

  await harness.sql('delete from app_process');
  await run('1.1.0', [...others, 'lender.updated']);
  await lender.whenReady;
  expect(await callOperator(env, 'database', 'check')).toMatchObject({ exitCode: 0 });
});
