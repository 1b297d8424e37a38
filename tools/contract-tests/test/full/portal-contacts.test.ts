import { callOperator } from '@deedwire/dev-environment/harness';
import { eventually, missing, startReceiver } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { forTest } from '@deedwire/testing/for-file';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MailServer, parseMail, startMailServer } from '../support/mail-server.ts';
import {
  createPortalLink,
  follow,
  type PortalSystem,
  problemsOf,
  screenshot,
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

const browser = useBrowser('The portal');

let t: PortalSystem;
let server: MailServer;

const dialogOf = (page: Page) => page.getByRole('dialog');

/** On both screens and in both color schemes, but not in each pair of them. */
async function look(page: Page, name: string): Promise<void> {
  for (const [screen, width, height, colorScheme] of [
    ['wide', 1280, 820, 'light'],
    ['narrow', 320, 640, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    expect({ name, screen, problems: await problemsOf(page) }).toEqual({ name, screen, problems: [] });
    await screenshot(page, `${name}-${screen}-${colorScheme}`);
  }
}

/** The next mail. The worker looks for mails every 5 seconds, and for alerts every 10. */
async function nextMail(): Promise<ReturnType<typeof parseMail>> {
  await eventually(() => expect(server.mails).toHaveLength(1));
  return parseMail(server.mails.pop()?.source ?? '');
}

const linkIn = (body: string, action: string): string =>
  new RegExp(String.raw`http://127\.0\.0\.1:\d+/customer/portal/mail/${action}\?token=[\w-]{43}`).exec(body)?.[0] ??
  missing();

describe.skipIf(browser.isAbsent)('the page of contact addresses', () => {
  beforeAll(async () => {
    server = await startMailServer();
    t = await startPortalSystem({ mailPort: server.port });
  });
  afterAll(async () => {
    await t.close();
    await server.close();
  });

  test('adds an address, which its reader confirms, and from which mails of one subject are unsubscribed', async () => {
    const { page } = await browser.open(t.origin, { viewport: { width: 320, height: 640 } });
    await follow(page, await createPortalLink(t.customer));
    await page.getByRole('link', { name: 'Contacts' }).click();
    await page.getByText('There is no address yet, so no mail is sent.').waitFor();
    await look(page, 'contacts-empty');
    await page.getByRole('button', { name: 'Add an address' }).click();
    await dialogOf(page).getByLabel('Address').fill('ada@localhost');
    await dialogOf(page).getByRole('button', { name: 'Add an address' }).click();
    await dialogOf(page).getByRole('alert').getByText('Type an address such as webhooks@example.com').waitFor();
    await look(page, 'contacts-add');
    const email = 'a.team.with.a.long.name.of.the.north-and-south@webhooks.example';
    await dialogOf(page).getByLabel('Address').fill(email);
    await dialogOf(page).getByRole('button', { name: 'Add an address' }).click();
    const section = page.getByRole('region', { name: email });
    await section.getByText('Not confirmed').waitFor();
    await look(page, 'contacts-unconfirmed');

    const confirmation = await nextMail();
    const { page: reader } = await browser.open(t.origin, { viewport: { width: 320, height: 640 } });
    await reader.goto(linkIn(confirmation.body, 'confirm'));
    await look(reader, 'contacts-confirm');
    await reader.getByRole('button', { name: 'Confirm' }).click();
    await reader.getByRole('heading', { name: 'The address is confirmed' }).waitFor();
    await look(reader, 'contacts-confirmed');
    await visit(page, 'contacts');
    await section.getByText('Confirmed').waitFor();
    await look(page, 'contacts');

    const receiver = await forTest(startReceiver());
    const { id } = await subscribe(t.customer, {
      callbackUrl: receiver.url,
      eventTypes: [{ type: 'order.placed' }],
      name: 'CRM of the north',
    });
    const env = { DATABASE_URL: await t.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
    await callOperator(env, 'subscription', 'pause', id);
    const alert = await nextMail();
    expect(alert.headers['subject']).toBe('Webhooks to "CRM of the north" are paused');
    const html = alert.body.slice(alert.body.indexOf('<!doctype html>'), alert.body.indexOf('</html>'));
    const { page: mail } = await browser.open(t.origin, { viewport: { width: 320, height: 640 } });
    await mail.setContent(html);
    // In the dark, axe does not know the background of a page without styles.
    expect(await problemsOf(mail)).toEqual([]);
    await screenshot(mail, 'contacts-mail');
    await reader.goto(linkIn(alert.body, 'unsubscribe'));
    await look(reader, 'contacts-unsubscribe');
    await reader.getByRole('button', { name: 'Unsubscribe' }).click();
    await reader.getByText('no more mails about subscriptions that are paused').waitFor();
    await visit(page, 'contacts');
    await section.getByText('Subscription paused').waitFor();
    await look(page, 'contacts-unsubscribed');

    await section.getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
    await page.getByText(`${email} gets no more mail.`).waitFor();
    expect(await t.sql('select from contact_email')).toEqual([]);
  });

  test('is not offered to a session that may not configure', async () => {
    const { page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } });
    await follow(page, await createPortalLink(t.customer, ['READ', 'OPERATE']));
    expect(await page.getByRole('link', { name: 'Contacts' }).count()).toBe(0);
    await visit(page, 'contacts');
    await page.getByText('You cannot manage contact addresses.').waitFor();
  });
});
