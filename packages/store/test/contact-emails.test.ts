import { createHash } from 'node:crypto';
import { connect, missing } from '@deedwire/testing';
import { forFile } from '@deedwire/testing/for-file';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  confirmContactEmail,
  eraseContactEmails,
  selectContactAccounts,
  selectContactEmails,
  unsubscribeContactEmail,
  updateContactEmails,
} from '../src/accounts/contact-emails.ts';
import { type DueMail, endContactMail, takeContactMail } from '../src/accounts/contact-mails.ts';
import { AccountAwayError, createStore } from '../src/index.ts';
import { forgetContacts } from '../src/processes/housekeeping.ts';
import { createServiceDatabase } from './support/database.ts';
import { type Account, seedAccount } from './support/seed.ts';

const database = await forFile(createServiceDatabase());
const superuser = await forFile(connect(database.databaseUrl));
const admin = await forFile(createStore({ databaseUrl: database.databaseUrl, applicationName: 'test' }));
const storeOf = async (role: string) =>
  forFile(createStore({ databaseUrl: await database.urlFor(role), applicationName: 'test' }));
const [supplierApi, customerApi, worker, operator] = [
  await storeOf('supplier_api'),
  await storeOf('customer_api'),
  await storeOf('webhook_worker'),
  await storeOf('operator'),
];
const [own, other] = [await seedAccount(admin, 'supplier'), await seedAccount(admin, 'supplier')];
const customer = await seedAccount(admin, 'customer');

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Sets the contact addresses of an account of suppliers. */
const set = (account: Account, ...emails: string[]) =>
  updateContactEmails(supplierApi, account.id, { emails, hasPortal: true });

const asCustomer = (email: string) =>
  updateContactEmails(customerApi, customer.id, { emails: [email], hasPortal: true });

/** Takes the mails that are due. The first has the token `<name>1`. */
async function take(name: string, max = 10): Promise<DueMail[]> {
  const mails: DueMail[] = [];
  for (let number = 1; number <= max; number += 1) {
    const mail = await takeContactMail(worker, hashOf(`${name}${number}`));
    if (mail === null) break;
    mails.push(mail);
  }
  return mails;
}

/** A confirmed address of `own`. */
async function confirm(email = 'ada@a.test'): Promise<void> {
  await set(own, email);
  for (const { id } of await take('c')) await endContactMail(worker, id, 'SENT');
  expect(await confirmContactEmail(supplierApi, hashOf('c1'))).toBe(true);
}

const append = (subject: string, data: object = {}, subscription = 7) =>
  superuser.run('select add_contact_mails($1, $2, $3, null, $4)', [
    own.id,
    subject,
    subscription,
    JSON.stringify(data),
  ]);

const subjects = (mails: readonly DueMail[]) => mails.map(({ subject }) => subject);

const later = (interval: string, table: string, ...columns: string[]) =>
  superuser.run(
    `update ${table} set ${columns.map((column) => `${column} = ${column} - interval '${interval}'`).join()}`,
  );

beforeEach(async () => {
  await superuser.run(`
    delete from account_home; delete from contact_email; delete from contact_confirmation; delete from audit_entry;
    delete from webhook_worker;
    insert into webhook_worker (name, leased_until, sends_mail) values ('w', now() + interval '1 hour', true)`);
});

describe('contact addresses', () => {
  test('are replaced: those that stay keep their state, and each new one gets a confirmation', async () => {
    await confirm();
    expect(await set(own, 'ADA@a.test', 'bob@a.test')).toBeNull();
    const unconfirmed = { confirmedAt: null, stoppedAt: null, unsubscribedFrom: [] };
    expect(await selectContactEmails(supplierApi, own.id)).toEqual([
      { ...unconfirmed, email: 'ada@a.test', confirmedAt: expect.any(Date) },
      { ...unconfirmed, email: 'bob@a.test' },
    ]);
    expect(await take('t')).toMatchObject([
      { email: 'bob@a.test', subject: 'CONFIRMATION', interfaceName: 'supplier' },
    ]);
    expect(await set(own)).toBeNull();
    expect(await selectContactEmails(supplierApi, own.id)).toEqual([]);
    expect(await superuser.run('select from contact_mail union all select from contact_token')).toEqual([]);
  });

  test('that are not confirmed get another confirmation after 10 minutes', async () => {
    await set(own, 'ada@a.test');
    await set(own, 'ada@a.test');
    expect(await take('t')).toHaveLength(1);
    await later('11 minutes', 'contact_mail', 'created_at');
    await set(own, 'ada@a.test');
    expect(await take('u')).toHaveLength(1);
  });

  test('of an account ask for 10 confirmations within a day, and nothing changes beyond', async () => {
    await set(own, 'a@1.test', 'a@2.test', 'a@3.test', 'a@4.test', 'a@5.test');
    await set(own, 'b@1.test', 'b@2.test', 'b@3.test', 'b@4.test', 'b@5.test');
    expect(await set(own, 'c@1.test')).toBe('ACCOUNT_LIMIT');
    expect(await selectContactEmails(supplierApi, own.id)).toHaveLength(5);
    expect(await set(other, 'c@1.test')).toBeNull();
    await later('1 day', 'contact_confirmation', 'created_at');
    expect(await set(own, 'c@1.test')).toBeNull();
  });

  test('of all accounts together ask for 3 confirmations of one mailbox within a day', async () => {
    expect(await set(own, 'Ada@a.test')).toBeNull();
    expect(await set(other, 'ada+x@a.test')).toBeNull();
    expect(await asCustomer('ada+y@A.test')).toBeNull();
    expect(await set(other, 'ada@a.test')).toBe('ADDRESS_LIMIT');
    expect(await asCustomer('ada+z@a.test')).toBe('ADDRESS_LIMIT');
    expect(await set(other, 'a.da@a.test')).toBe('ADDRESS_LIMIT');
    expect(await set(other, 'b+1@a.test', 'b+2@a.test', 'b+3@a.test', 'b+4@a.test')).toBe('ADDRESS_LIMIT');
  });

  test.each([
    '"ada"@a.test',
    'ada(x)@a.test',
    'ada@a.test.',
    'ada,eve@a.test',
    '<ada@a.test>',
    'ada@[127.0.0.1]',
    'ada@a',
  ])('are not %s, though a login of an interface calls the function', async (email) => {
    await expect(set(own, email)).rejects.toThrow('contact_email_email_bounds');
  });

  test('asked for at the same time stay within the limit', async () => {
    const accounts = await Promise.all(Array.from({ length: 6 }, () => seedAccount(admin, 'supplier')));
    const results = await Promise.all(accounts.map((account) => set(account, 'ada@a.test', `x${account.id}@a.test`)));
    expect(results.filter((result) => result === null)).toHaveLength(3);
    expect(results.filter((result) => result === 'ADDRESS_LIMIT')).toHaveLength(3);
  });

  test('can only be removed if no worker sends mail, or no portal serves the links', async () => {
    await set(own, 'ada@a.test', 'bob@a.test');
    expect(await updateContactEmails(supplierApi, own.id, { emails: ['c@a.test'], hasPortal: false })).toBe(
      'MAIL_UNAVAILABLE',
    );
    await superuser.run(`update webhook_worker set leased_until = now() - interval '1 second'`);
    expect(await set(own, 'c@a.test')).toBe('MAIL_UNAVAILABLE');
    expect(await set(own, 'ada@a.test')).toBeNull();
    expect(await selectContactEmails(supplierApi, own.id)).toHaveLength(1);
  });

  test('are those of the interface of the login', async () => {
    await set(own, 'ada@a.test');
    await take('t');
    expect(await updateContactEmails(customerApi, own.id, { emails: [], hasPortal: true })).toBe('NO_ACCOUNT');
    expect(await selectContactEmails(customerApi, own.id)).toEqual([]);
    expect(await confirmContactEmail(customerApi, hashOf('t1'))).toBe(false);
    expect(await confirmContactEmail(supplierApi, hashOf('t1'))).toBe(true);
    await append('PAUSED');
    await take('u');
    expect(await unsubscribeContactEmail(customerApi, hashOf('u1'))).toBeNull();
    expect(await unsubscribeContactEmail(supplierApi, hashOf('u1'))).toBe('PAUSED');
  });

  test('of an account that is frozen do not change, and get no mail', async () => {
    await confirm();
    await append('PAUSED');
    await superuser.run('insert into account_home values ($1, 5, next_freeze())', [own.id]);
    await expect(set(own)).rejects.toThrow(AccountAwayError);
    expect(await take('t')).toEqual([]);
  });

  test('that are not confirmed are forgotten after 7 days, and so is what is old', async () => {
    await confirm();
    await set(own, 'ada@a.test', 'bob@a.test');
    await append('PAUSED');
    await take('t');
    await later('8 days', 'contact_email', 'created_at');
    await later('8 days', 'contact_mail', 'created_at');
    await later('8 days', 'contact_confirmation', 'created_at');
    expect(await forgetContacts(worker, 100)).toBe(3);
    expect(await superuser.run('select from contact_mail union all select from contact_confirmation')).toEqual([]);
    // The link that an address got last still works.
    expect(await selectContactEmails(supplierApi, own.id)).toHaveLength(2);
    await later('25 hours', 'contact_token', 'expires_at');
    await forgetContacts(worker, 100);
    expect(await selectContactEmails(supplierApi, own.id)).toMatchObject([{ email: 'ada@a.test' }]);
    const tokens = 'select subject from contact_token order by subject';
    expect(await superuser.run(tokens)).toEqual([{ subject: 'PAUSED' }]);
    await later('100 days', 'contact_token', 'expires_at');
    await forgetContacts(worker, 100);
    expect(await superuser.run(tokens)).toEqual([]);
  });

  test('of a person are erased in one account, with what counts them, and leave no sample in the statistics', async () => {
    await set(own, 'ada@a.test', 'bob@a.test');
    await set(other, 'Ada@a.test');
    await superuser.run('analyze contact_email');
    expect(
      await superuser.run(`select from pg_stats where tablename ~ '^contact_email' and most_common_vals::text ~ 'ada'
      or tablename ~ '^contact_email' and histogram_bounds::text ~ 'ada'`),
    ).toEqual([]);
    expect(await selectContactAccounts(operator, 'ADA@a.test')).toEqual([
      { accountId: own.id, interfaceName: 'supplier' },
      { accountId: other.id, interfaceName: 'supplier' },
    ]);
    await eraseContactEmails(operator, 'ADA@a.test', own.id);
    expect(await selectContactAccounts(operator, 'ada@a.test')).toEqual([
      { accountId: other.id, interfaceName: 'supplier' },
    ]);
    expect(await selectContactEmails(operator, own.id)).toMatchObject([{ email: 'bob@a.test' }]);
    expect(await superuser.run('select from contact_confirmation where account_id = $1', [own.id])).toHaveLength(1);
    expect(await superuser.run(`select action, subject ~ '^ContactEmail/\\d+$' as named from audit_entry`)).toEqual([
      { action: 'contact_email.erase', named: true },
    ]);
  });
});

describe('tokens', () => {
  test('are stored as hashes, confirm within a day, and each attempt to send a mail has its own', async () => {
    await set(own, 'ada@a.test');
    await take('t');
    await later('1 hour', 'contact_mail', 'next_attempt_at');
    await take('u');
    expect(await confirmContactEmail(supplierApi, hashOf('v1'))).toBe(false);
    expect(await confirmContactEmail(supplierApi, hashOf('t1'))).toBe(true);
    expect(await confirmContactEmail(supplierApi, hashOf('u1'))).toBe(true);
    await later('1 hour', 'contact_mail', 'next_attempt_at');
    expect(await take('w')).toEqual([]);
    expect(await superuser.run(`select action, actor_type from audit_entry`)).toEqual([
      { action: 'contact_email.confirm', actor_type: null },
    ]);
    // The column rounds to milliseconds, so now() itself could lie ahead.
    await superuser.run(`update contact_token set expires_at = date_trunc('milliseconds', now())`);
    expect(await confirmContactEmail(supplierApi, hashOf('t1'))).toBe(false);
  });

  test('of a mail end its subject, and confirm nothing', async () => {
    await confirm();
    await append('PAUSED');
    await append('PAUSED', {}, 8);
    await append('RECOVERED');
    expect(subjects(await take('t', 1))).toEqual(['PAUSED']);
    expect(await confirmContactEmail(supplierApi, hashOf('t1'))).toBe(false);
    expect(await unsubscribeContactEmail(supplierApi, hashOf('c1'))).toBeNull();
    expect(await unsubscribeContactEmail(supplierApi, hashOf('t1'))).toBe('PAUSED');
    expect(await unsubscribeContactEmail(supplierApi, hashOf('t1'))).toBe('PAUSED');
    await append('PAUSED', {}, 9);
    expect(subjects(await take('u'))).toEqual(['RECOVERED']);
    expect(await selectContactEmails(supplierApi, own.id)).toMatchObject([{ unsubscribedFrom: ['PAUSED'] }]);
    const entries = await superuser.run(`select details from audit_entry where action = 'contact_email.unsubscribe'`);
    expect(entries).toEqual([{ details: { subject: 'PAUSED' } }]);
  });
});

describe('mails', () => {
  test('are taken by one worker at a time, and again if it records no result', async () => {
    await confirm();
    await append('PAUSED');
    const [first, second] = await Promise.all([take('t'), take('u')]);
    expect([...first, ...second]).toHaveLength(1);
    expect(await take('v')).toEqual([]);
    await later('2 minutes', 'contact_mail', 'next_attempt_at');
    const [again] = await take('w');
    expect(again?.id).toBe([...first, ...second][0]?.id);
    await later('2 minutes', 'contact_mail', 'next_attempt_at');
    // The second attempt waits for longer.
    expect(await take('x')).toEqual([]);
    await endContactMail(worker, again?.id ?? missing(), 'SENT');
    await later('1 day', 'contact_mail', 'next_attempt_at');
    expect(await take('y')).toEqual([]);
  });

  test('that are not sent within 3 days are not sent', async () => {
    await confirm();
    await append('PAUSED');
    await later('73 hours', 'contact_mail', 'created_at', 'next_attempt_at');
    expect(await take('t')).toEqual([]);
  });

  test('about one subscription are sent once an hour per subject, and tell all failures since', async () => {
    await confirm();
    const failed = (since: string, failedCount: number) => append('FAILED', { since, failedCount });
    await failed('2026-11-03T09:30:00.000Z', 1);
    const [first] = await take('t');
    // The first one is on its way.
    await failed('2026-11-03T09:35:00.000Z', 2);
    await failed('2026-11-03T09:40:00.000Z', 8);
    await append('FAILED', { since: '2026-11-03T09:40:00.000Z', failedCount: 5 }, 8);
    const ofOther = await take('u');
    expect(ofOther).toMatchObject([{ data: { failedCount: 5 } }]);
    for (const mail of [first, ...ofOther]) await endContactMail(worker, mail?.id ?? missing(), 'SENT');
    expect(await take('v')).toEqual([]);
    await later('61 minutes', 'contact_mail', 'ended_at', 'next_attempt_at');
    const second = await take('w');
    expect(second).toMatchObject([{ data: { since: '2026-11-03T09:35:00.000Z', failedCount: 10 } }]);
    await endContactMail(worker, second[0]?.id ?? missing(), 'SENT');
    await failed('2026-11-03T10:40:00.000Z', 1);
    expect(await take('x')).toEqual([]);
    await later('61 minutes', 'contact_mail', 'ended_at', 'next_attempt_at');
    expect(await take('y')).toHaveLength(1);
  });

  test('are sent within the hour after one that the server took, though its clock was set back since', async () => {
    await confirm();
    await append('PAUSED');
    const [first] = await take('t');
    await append('PAUSED');
    await endContactMail(worker, first?.id ?? missing(), 'SENT');
    await later('-1 year', 'contact_mail', 'ended_at', 'next_attempt_at');
    await append('PAUSED');
    await later('1 day', 'contact_mail', 'next_attempt_at');
    const second = await take('u');
    expect(second).toHaveLength(1);
    await later('-1 year', 'contact_mail', 'next_attempt_at');
    await append('PAUSED');
    await endContactMail(worker, second[0]?.id ?? missing(), 'BOUNCED');
    await later('1 day', 'contact_mail', 'next_attempt_at');
    expect(await take('v')).toHaveLength(1);
  });

  test('that wait for an earlier one are not due meanwhile, so that none of a large number is read in vain', async () => {
    await confirm();
    await append('PAUSED');
    await take('t');
    await append('PAUSED');
    const waiting = 'select id from contact_mail where ended_at is null and next_attempt_at <= now()';
    expect(await superuser.run(waiting)).toEqual([]);
    await later('1 day', 'contact_mail', 'next_attempt_at');
    const [first] = await take('u');
    expect(await superuser.run(waiting)).toEqual([]);
    await later('1 day', 'contact_mail', 'next_attempt_at');
    await endContactMail(worker, first?.id ?? missing(), 'SENT');
    expect(await superuser.run(waiting)).toEqual([]);
  });

  test('that were never sent hold back no later ones, and what adds to one begins its days anew', async () => {
    await confirm();
    await append('PAUSED');
    await take('t');
    await append('PAUSED');
    await append('RECOVERED');
    await later('80 hours', 'contact_mail', 'created_at', 'next_attempt_at');
    expect(await take('u')).toEqual([]);
    await append('PAUSED', { reason: 'GONE' });
    await append('RECOVERED');
    expect(await take('v')).toMatchObject([{ subject: 'RECOVERED' }, { subject: 'PAUSED', data: { reason: 'GONE' } }]);
  });

  test('about a disruption are sent before those about its end', async () => {
    await confirm();
    await append('DISRUPTED');
    const [first] = await take('t');
    await append('RECOVERED');
    await append('PAUSED');
    await append('RECOVERED', {}, 8);
    expect(subjects(await take('u'))).toEqual(['PAUSED', 'RECOVERED']);
    await endContactMail(worker, first?.id ?? missing(), 'SENT');
    expect(subjects(await take('v'))).toEqual(['RECOVERED']);
  });

  test('stop after five refusals of the address in a row', async () => {
    await confirm();
    const send = async (result: 'BOUNCED' | 'SENT', subscription: number) => {
      await append('PAUSED', {}, subscription);
      const [mail] = await take(`t${subscription}`);
      return endContactMail(worker, mail?.id ?? missing(), result);
    };
    for (const subscription of [1, 2, 3, 4]) expect(await send('BOUNCED', subscription)).toBe(false);
    expect(await send('SENT', 5)).toBe(false);
    for (const subscription of [6, 7, 8, 9]) expect(await send('BOUNCED', subscription)).toBe(false);
    await append('RECOVERED', {}, 11);
    expect(await send('BOUNCED', 10)).toBe(true);
    await append('RECOVERED', {}, 12);
    expect(await take('u')).toEqual([]);
    expect(await selectContactEmails(supplierApi, own.id)).toMatchObject([{ stoppedAt: expect.any(Date) }]);
    // To begin again, it has to be removed and added.
    await set(own, 'ada@a.test');
    expect(await take('v')).toEqual([]);
    await set(own);
    await set(own, 'ada@a.test');
    expect(subjects(await take('w'))).toEqual(['CONFIRMATION']);
  });

  test('reach only addresses that are confirmed', async () => {
    await set(own, 'ada@a.test');
    await append('PAUSED');
    expect(subjects(await take('t'))).toEqual(['CONFIRMATION']);
  });
});
