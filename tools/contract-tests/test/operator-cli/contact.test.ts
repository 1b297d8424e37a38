import { callOperator, callOperatorWith, createHarness, createTestAccounts } from '@deedwire/dev-environment/harness';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';

const harness = await forFile(createHarness());
const env = { DATABASE_URL: await harness.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
const account = harness.accounts.customer.id;
const { customer: other } = await createTestAccounts(harness.operator);

const operate = (...given: string[]) => callOperator(env, ...given);
const update = (id: string, ...emails: string[]) =>
  operate('contact', 'update', '--account', id, ...emails.flatMap((email) => ['--email', email]));

const emails = () => harness.sql('select account_id, email from contact_email order by id');

const erase = (...options: string[]) =>
  callOperatorWith({ env, input: Buffer.from('ADA@a.test\n') }, 'person', 'erase', '--email', '-', ...options);

beforeEach(async () => {
  await harness.sql('delete from contact_email');
  await harness.sql('delete from contact_confirmation');
  await harness.sql('delete from webhook_worker');
  await harness.sql(
    `insert into webhook_worker (name, leased_until, sends_mail) values ('w', now() + interval '1 hour', true)`,
  );
});

describe('contact', () => {
  test('update replaces the addresses, and list shows whether they get mails', async () => {
    expect((await operate('contact', 'list', '--account', account)).stdout).toBe(
      'The account has no contact addresses\n',
    );
    expect(await update(account, 'ada@a.test', 'bob@a.test')).toMatchObject({ exitCode: 0, stderr: '' });
    await harness.sql(
      `update contact_email set confirmed_at = now(), unsubscribed_from = '{PAUSED}' where email = 'ada@a.test'`,
    );
    const { stdout } = await operate('contact', 'list', '--account', account, '--json');
    expect(JSON.parse(stdout)).toEqual([
      { email: 'ada@a.test', confirmedAt: expect.any(String), stoppedAt: null, unsubscribedFrom: ['PAUSED'] },
      { email: 'bob@a.test', confirmedAt: null, stoppedAt: null, unsubscribedFrom: [] },
    ]);
    expect((await operate('contact', 'update', '--account', account, '--none')).stdout).toBe(
      'The account has no contact addresses\n',
    );
    const entries = await harness.sql(
      `select actor_type, actor, details from audit_entry where action = 'contact_emails.update' order by number`,
    );
    expect(entries).toEqual([
      { actor_type: 'OPERATOR', actor: 'ada', details: { addresses: 2 } },
      { actor_type: 'OPERATOR', actor: 'ada', details: { addresses: 0 } },
    ]);
  });

  test('update says what is wrong, and changes nothing', async () => {
    expect(await operate('contact', 'update', '--account', account)).toMatchObject({ exitCode: 2 });
    expect(await update(account, 'ada')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('must have the form name@example.com'),
    });
    await harness.sql('update webhook_worker set sends_mail = false');
    expect(await update(account, 'ada@a.test')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Ask the operator to set PORTAL_ORIGIN, SMTP_URL and SMTP_FROM.'),
    });
    expect(await emails()).toEqual([]);
  });
});

describe('person erase', () => {
  test('removes an address from the contact addresses of an account', async () => {
    await update(account, 'ada@a.test', 'bob@a.test');
    const found = await erase('--dry-run');
    expect(found.stdout).toContain(`contact address of ${account}`);
    expect(found.stdout).toMatch(/contact_email +1/);
    expect(await emails()).toHaveLength(2);
    const erased = await erase('--yes');
    expect(erased).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Nothing of it is left') });
    expect(await emails()).toMatchObject([{ email: 'bob@a.test' }]);
    expect(await harness.sql('select from contact_confirmation')).toHaveLength(1);
    const [entry] = await harness.sql(
      `select actor_type, actor, details, audit_entry::text as text from audit_entry where action = 'contact_email.erase'`,
    );
    expect(entry).toMatchObject({ actor_type: 'OPERATOR', actor: 'ada', details: { command: 'person.erase' } });
    expect(String(entry?.['text'])).not.toContain('@');
    expect((await erase('--dry-run')).stdout).toBe('Nothing is kept\n');
  });

  test('of an address of an account that is frozen says so, and erases nothing', async () => {
    await update(account, 'ada@a.test');
    await harness.sql('insert into account_home values ($1, 0, next_freeze())', [harness.accounts.customer.accountId]);
    const refused = await erase('--yes');
    await harness.sql('delete from account_home');
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('frozen, or at home in another cell'),
    });
    expect(await emails()).toHaveLength(1);
  });

  test('of an address of several accounts erases nothing without one of them', async () => {
    await update(account, 'ada@a.test');
    await update(other.id, 'Ada@a.test');
    const refused = await erase('--yes');
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('Add --account.') });
    expect(refused.stdout).toContain(`contact address of ${account}, ${other.id}`);
    expect(await emails()).toHaveLength(2);
    await erase('--yes', '--account', other.id);
    expect(await emails()).toEqual([{ account_id: harness.accounts.customer.accountId, email: 'ada@a.test' }]);
  });
});
