import { setTimeout as sleep } from 'node:timers/promises';
import { callOperator } from '@deedwire/dev-environment/test/firm/harness';
import { createLogin, startPostgres, type PostgresServer } from '@deedwire/embedded-postgres';
import { firm } from '@deedwire/firm';
import { migrate } from '@deedwire/store';
import { createClient, eventually, missing, postGraphql, startReceiver } from '@deedwire/testing';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { succeed } from '../../support/command.ts';
import { expectAllDelivered } from '../../support/faults/verdict-of.ts';
import { pullSettledDeliveries } from '../../support/pull.ts';
import { subscribe } from '../../support/subscribe.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';
import { startFaultSystem, type FaultSystem } from '../support/fault-system.ts';
import { checkOutLastRelease, type Release } from '../support/last-release.ts';

// The apps of the previous release beside those of this build, on one database. `firm/full/upgrade.test.ts` applies the migrations under load.
let server: PostgresServer;
let release: Release;
let system: FaultSystem;

const timeout = 300_000;

beforeAll(async () => {
  release = await checkOutLastRelease({ isBeforeMigration: true });
  server = await startPostgres();
  system = await startFaultSystem({ server, release, accounts: 4, leaseMs: 5_000 });
  await migrate(server.url, firm);
  system.workers.push(await system.addWorker({}, workspaceRoot));
}, timeout);

afterAll(async () => {
  await system.close();
  await release.remove();
});

const keyIdOf = ({ apiKey }: { apiKey: string }) => apiKey.split('_')[2] ?? '';

/** The partitions of webhook_event: how many are older than 40 days, and how many begin after today. */
async function partitions(): Promise<{ old: number; ahead: number } | undefined> {
  const [row] = await system.observer.run(`
    select count(*) filter (where right(relname, 8) < to_char(now() - interval '40 days', 'YYYYMMDD'))::int as old,
      count(*) filter (where right(relname, 8) > to_char(now() at time zone 'UTC', 'YYYYMMDD'))::int as ahead
    from pg_class where relname ~ '^webhook_event_\\d{8}$' and relkind = 'r'`);
  return row === undefined ? undefined : { old: Number(row['old']), ahead: Number(row['ahead']) };
}

test(
  'each change by the commands of the previous release has one entry, with login and operator',
  { timeout },
  async () => {
    const login = 'ada_of_the_last_release';
    const env = { DATABASE_URL: await createLogin(server.url, login, 'operator'), OPERATOR_NAME: 'ada' };
    const main = 'apps/operator-cli/src/main.ts';
    const operate = async (...command: string[]) => {
      const nodeArguments = ['--conditions=deedwire-source', main, ...command, '--json'];
      return JSON.parse(await succeed(process.execPath, nodeArguments, { cwd: release.folder, env }));
    };

    const organization = await operate('organization', 'create', '--name', 'Harbour');
    const lender = await operate('lender', 'create', '--organization', organization.id, '--name', 'Northwind');
    await operate('lender', 'update', lender.id, '--name', 'Northwind BS');
    const issued = await operate('credential', 'issue', '--interface', 'lender', '--account', lender.id);
    const { clientId } = issued;
    await operate('client', 'pin', clientId, '--schema-version', '2027-02-01');
    await operate('client', 'set-limit', clientId, '--maximum', '5000', '--restore-rate', '500');
    const rotated = await operate('credential', 'rotate', keyIdOf(issued));
    await operate('credential', 'expire', keyIdOf(issued));
    await operate('credential', 'revoke', keyIdOf(rotated));

    const entries = await system.observer.run(
      `select actor, action, subject, details ->> 'command' as command from audit_entry where login = $1 order by at, number`,
      [login],
    );
    const accountSubject = lender.id.slice('gid://service/'.length);
    expect(entries.map(({ actor, action, subject, command }) => [actor, action, subject, command])).toEqual([
      ['ada', 'organization.create', organization.id, null],
      ['ada', 'lender.create', accountSubject, 'lender.create'],
      ['ada', 'lender.update', accountSubject, 'lender.update'],
      ['ada', 'client.create', clientId, 'credential.issue'],
      ['ada', 'credential.issue', keyIdOf(issued), 'credential.issue'],
      ['ada', 'client.pin', clientId, 'client.pin'],
      ['ada', 'client.set-limit', clientId, 'client.set-limit'],
      ['ada', 'credential.expire', keyIdOf(issued), 'credential.rotate'],
      ['ada', 'credential.issue', keyIdOf(rotated), 'credential.rotate'],
      ['ada', 'credential.expire', keyIdOf(issued), 'credential.expire'],
      ['ada', 'credential.revoke', keyIdOf(rotated), 'credential.revoke'],
    ]);
    // It also lists the changes of an operator without a command.
    await system.observer.run(`update account set name = 'Northwind' where id = $1`, [lender.id.split('/').at(-1)]);
    const [latest] = await operate('audit', 'list', '--limit', '1');
    expect(latest).toMatchObject({ actor: null, action: 'lender.update', accountId: lender.id });
  },
);

test('a worker of the previous release creates partitions, and one of this build drops them', { timeout }, async () => {
  await system.observer.run(`
    do $$
    declare
      name text;
    begin
      for name in select relname from pg_class where relname ~ '^webhook_event_\\d{8}$'
        and right(relname, 8) > to_char(now() + interval '20 days', 'YYYYMMDD') loop
        execute format('drop table %I', name);
      end loop;
      create table webhook_event_20260201 partition of webhook_event
        for values from (0) to ((date '2026-02-02' - date '2026-01-01')::bigint * 86400000 << 22);
    end
    $$`);
  for (const worker of system.workers.splice(0)) {
    worker.kill('SIGTERM');
    await worker.ended;
  }
  const load = system.startLoad();
  system.workers.push(await system.addWorker());
  await eventually(async () => expect((await partitions())?.ahead).toBe(60), timeout);
  await system.received.waitForMore(100);

  system.workers.push(await system.addWorker({}, workspaceRoot));
  await eventually(async () => expect((await partitions())?.old).toBe(0), timeout);
  await expectAllDelivered(system, await load.stop());
});

test('a worker of the previous release sends nothing of a person who is erased', { timeout }, async () => {
  for (const worker of system.workers.splice(0)) {
    worker.kill('SIGTERM');
    await worker.ended;
  }
  system.workers.push(await system.addWorker());
  const { url } = await system.startApi({}, workspaceRoot);
  const client = createClient(`${url}/partners/graphql`, system.t.accounts.partner.credential);
  const receiver = await startReceiver({ onDelivery: (response) => response.writeHead(500).end() });
  onTestFinished(() => receiver.close());
  const eventTypes = [{ type: 'referral.created' }];
  const webhookSecret = generateWebhookSecret();
  const { id } = await subscribe(client, { callbackUrl: receiver.url, eventTypes, webhookSecret });
  const { body } = await postGraphql<{ createReferral: { referral: { id: string } } }>(
    `${url}/partners/graphql`,
    system.t.accounts.partner.credential,
    {
      query: `mutation { createReferral(input: { clientName: "Ada", externalReference: "Ada-4711" }) { referral { id } } }`,
    },
  );
  const record = body.data?.createReferral.referral.id ?? missing();
  const [request] = await receiver.waitFor(1);
  expect(request?.body.toString()).toContain('Ada-4711');
  const env = { DATABASE_URL: await createLogin(server.url, 'erasing', 'operator'), DATABASE_DIRECT_URL: server.url };
  expect(await callOperator(env, 'person', 'erase', '--record', record, '--yes')).toMatchObject({ exitCode: 0 });
  const sent = receiver.deliveries.length;
  // Its next retry would be due 5 to 24 s later.
  await sleep(25_000);
  expect(receiver.deliveries).toHaveLength(sent);
  expect(await pullSettledDeliveries(client, id, 1)).toMatchObject([{ status: 'EXPIRED' }]);
});
