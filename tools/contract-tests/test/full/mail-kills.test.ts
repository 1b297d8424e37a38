import { text } from 'node:stream/consumers';
import { startTestSystem } from '@deedwire/dev-environment/harness';
import { connect, type Connection, eventually } from '@deedwire/testing';
import { forTest } from '@deedwire/testing/for-file';
import { expect, test } from 'vitest';
import { parseMail, startMailServer } from '../support/mail-server.ts';

test('a mail that the server took from a worker that was killed is sent again, with the same Message-ID', async () => {
  const mails: string[] = [];
  // Before the server replies, the row is locked, so that the worker cannot record that the mail was sent.
  let locker: Pick<Connection, 'run'> | null = null;
  const server = await forTest(
    startMailServer({
      async onData(stream, _, callback) {
        mails.push(await text(stream));
        await locker?.run('begin; select from contact_email for update');
        callback();
      },
    }),
  );
  const mailSettings = {
    PORTAL_ORIGIN: 'http://127.0.0.1:1',
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    SMTP_FROM: 'webhooks@service.example',
  };
  const t = await forTest(startTestSystem({ apps: ['webhook-worker'], appEnv: { 'webhook-worker': mailSettings } }));
  const blocker = await forTest(connect(t.database.databaseUrl));
  locker = blocker;
  await t.sql(
    `insert into contact_email (account_id, interface, email) select id, interface, 'ada@a.test' from account where interface = 'customer'`,
  );
  await t.sql(
    `insert into contact_mail (contact_id, account_id, interface, subject) select id, account_id, interface, 'CONFIRMATION' from contact_email limit 1`,
  );
  const recording = `from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'end_contact_mail'`;
  await eventually(async () => expect(await t.sql(`select ${recording}`)).toHaveLength(1));
  const worker = t.system.apps['webhook-worker'];
  worker.kill('SIGKILL');
  await worker.ended;
  await t.sql(`select pg_terminate_backend(pid) ${recording}`);
  await blocker.run('rollback');
  locker = null;
  const rows = 'select attempts, is_sent from contact_mail';
  expect(await t.sql(rows)).toEqual([{ attempts: 1, is_sent: false }]);
  await t.sql('update contact_mail set next_attempt_at = now()');
  await t.system.restart('webhook-worker');
  await eventually(async () => expect(await t.sql(rows)).toEqual([{ attempts: 2, is_sent: true }]));
  const [first, second] = mails.map((mail) => parseMail(mail).headers['message-id']);
  expect(second).toBe(first);
  expect(mails).toHaveLength(2);
});
