import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { acknowledge, eventually, missing, type Receiver, type Respond, startReceiver } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createPortalLink,
  follow,
  operationOf,
  pages,
  type PortalSystem,
  problemsOf,
  screenshot,
  shownTime,
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

const browser = useBrowser('The portal');

let t: PortalSystem;
let receiver: Receiver;
let documents: Record<string, string>;
let id: string;

const place = parse('mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }');

const fail: Respond = (response) => response.writeHead(503).end('upstream connect error\nreset before headers\n');

/** The endpoint has failed for a while: two deliveries are pending, and the breaker stays open for minutes. */
async function startOutage(): Promise<void> {
  receiver.onDelivery = fail;
  const count = receiver.deliveries.length;
  for (let index = 0; index < 2; index += 1) await t.customer.request(place, {});
  await receiver.waitFor(count + 2);
  await eventually(async () =>
    expect(await t.sql('select 1 from webhook_pending_delivery where attempts > 0')).toHaveLength(2),
  );
  await t.system.apps['webhook-worker'].stop();
  await t.sql(`update webhook_receiver_state
    set consecutive_failures = 20, breaker_probes = 7, breaker_open_until = now() + interval '5 minutes'`);
  await t.sql(`update webhook_pending_delivery set due_at = now() - interval '1 minute'`);
  await t.system.restart('webhook-worker');
}

/** The endpoint works, and nothing is pending. */
async function endOutage(): Promise<void> {
  receiver.onDelivery = acknowledge;
  await t.sql('update webhook_subscription set send_pending_at = null');
  for (const mutation of [
    'resumeWebhookSubscription(input: { id: $id })',
    'sendPendingWebhookDeliveries(input: { subscriptionId: $id })',
  ])
    await t.customer.request(parse(`mutation ($id: ID!) { ${mutation} { userErrors { code } } }`), { id });
  await eventually(async () => expect(await t.sql('select 1 from webhook_pending_delivery')).toEqual([]));
  await t.sql('update webhook_subscription set send_pending_at = null');
}

const numberOf = (gid: string): string => gid.split('/').at(-1) ?? missing();

async function openPage(path: string, abilities?: readonly string[]): Promise<Page> {
  const { page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } });
  await follow(page, await createPortalLink(t.customer, abilities));
  await visit(page, path);
  return page;
}

const textOfFocus = (page: Page): Promise<string> => page.evaluate('document.activeElement.innerText');

async function confirm(page: Page, label: string | RegExp): Promise<void> {
  await page.getByRole('button', { name: label }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: label }).click();
}

/** The newest delivery, as a page. */
async function newestDelivery(): Promise<string> {
  const { webhookDeliveries } = await t.customer.request<{ webhookDeliveries: { nodes: { id: string }[] } }, object>(
    parse('{ webhookDeliveries(first: 1) { nodes { id } } }'),
    {},
  );
  return `deliveries/${numberOf(webhookDeliveries.nodes[0]?.id ?? missing())}`;
}

describe.skipIf(browser.isAbsent)('an action of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    ({ documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8')));
    receiver = await startReceiver();
    ({ id } = await subscribe(t.customer, { callbackUrl: receiver.url, eventTypes: [{ type: 'order.placed' }] }));
    await t.customer.request(place, {});
    await receiver.waitFor(1);
  });
  afterAll(async () => {
    await receiver.close();
    await t.close();
  });

  describe('while the endpoint fails', () => {
    beforeAll(startOutage);
    afterAll(endOutage);

    test('a test event shows what the endpoint answered, and other deliveries stay on hold', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      const count = receiver.deliveries.length;
      await confirm(page, 'Send a test event');
      const status = page.getByRole('dialog').getByRole('status');
      await expect.poll(() => status.innerText()).toMatch(/Your endpoint answered 503 in [\d,]+ ms\./);
      await expect
        .poll(() => status.innerText())
        .toContain('The endpoint responded: upstream connect error reset before headers');
      expect(await t.sql('select 1 from webhook_receiver_state where breaker_open_until > now()')).toHaveLength(1);
      await sleep(3_000);
      const sent = receiver.deliveries.slice(count).map(({ headers }) => headers['x-service-webhook-test']);
      expect(sent).toEqual(['true']);
      await screenshot(page, 'test-event');
      await page.setViewportSize({ width: 320, height: 640 });
      await page.emulateMedia({ colorScheme: 'dark' });
      await screenshot(page, 'test-event-narrow');
      expect(await problemsOf(page)).toEqual([]);
    });

    test('a test event shows no body to a session that may not read it', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`, ['READ', 'OPERATE']);
      await confirm(page, 'Send a test event');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Your endpoint answered 503').waitFor();
      expect(await dialog.innerText()).not.toContain('The endpoint responded');
    });

    test('pending deliveries are tried, and the page says that the endpoint still fails', async () => {
      const page = await openPage('');
      const section = page.locator('section').first();
      // The region is there before its text changes: otherwise it is not announced.
      const status = section.locator('.actions > [role="status"]');
      expect(await status.allInnerTexts()).toEqual(['']);
      await section.getByRole('button', { name: /^Send pending now \(\d+\)$/ }).click();
      const dialog = page.getByRole('dialog');
      expect(await dialog.innerText()).toContain('one delivery is tried first');
      const sent = receiver.deliveries.length;
      const queries: string[] = [];
      page.on('request', (request) => queries.push(operationOf(request, documents) ?? ''));
      await dialog.getByRole('button', { name: 'Send pending now' }).click();
      await expect
        .poll(() => status.innerText())
        .toMatch(
          /^Still failing: 503\.\s+The endpoint responded: upstream connect error reset before headers\s+You can /,
        );
      expect(receiver.deliveries.length).toBe(sent + 1);
      expect(await section.getByRole('button', { name: 'Send pending now' }).count()).toBe(0);
      await section.getByText(new RegExp(`^You can send pending deliveries again at ${shownTime}\\.$`)).waitFor();
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, 'still-failing');
      // The page usually looks each 30 s.
      await expect.poll(() => queries.filter((name) => name === 'Subscriptions').length).toBeGreaterThan(3);
    });
  });

  describe('once the endpoint works', () => {
    beforeEach(endOutage);

    test('pending deliveries are sent, and the page says how many were delivered', async () => {
      await startOutage();
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      receiver.onDelivery = acknowledge;
      await confirm(page, 'Send pending now (2)');
      await page.getByText('2 delivered.').waitFor();
      await page.getByText('Healthy', { exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Send pending now' }).count()).toBe(0);
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, 'delivered');
      await page.setViewportSize({ width: 320, height: 640 });
      await screenshot(page, 'delivered-narrow');
    });

    test('a test event is sent once', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      const count = receiver.deliveries.length;
      await confirm(page, 'Send a test event');
      await page.getByText(/^Delivered: 204 in [\d,]+ ms\.$/).waitFor();
      expect(receiver.deliveries.length).toBe(count + 1);
    });

    test('a test event is found among many newer events', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      // The answer to the other events is another one.
      receiver.onDelivery = (response, { headers }) =>
        response.writeHead('x-service-webhook-test' in headers ? 204 : 200).end();
      let isFirst = true;
      await page.route('**/graphql', async (route) => {
        if (isFirst && operationOf(route.request(), documents) === 'Deliveries') {
          isFirst = false;
          const count = receiver.deliveries.length;
          await Promise.all(Array.from({ length: 25 }, () => t.customer.request(place, {})));
          await receiver.waitFor(count + 25);
        }
        await route.continue();
      });
      await confirm(page, 'Send a test event');
      await page.getByText(/^Delivered: 204 in [\d,]+ ms\.$/).waitFor();
      expect(isFirst).toBe(false);
    });

    test('a delivery is quietly sent again, and a time-out is named', async () => {
      const page = await openPage(await newestDelivery());
      receiver.onDelivery = () => {};
      expect(await page.getByRole('button', { name: 'Resend' }).getAttribute('class')).toBe('');
      await confirm(page, 'Resend');
      await page.getByText('Waiting for the answer of your endpoint').waitFor();
      await page.getByText(/^No complete answer: Timeout, after (?:[5-9]|\d\d),\d{3} ms\.$/).waitFor();
    });

    test('a pause takes away what would not be sent, and resuming says so', async () => {
      const address = await newestDelivery();
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      const regions = await page.locator('.heading .actions > [role="status"]').count();
      await confirm(page, 'Pause');
      const report = page.getByText('Paused. Its events are kept until you resume.');
      await report.waitFor();
      expect(await page.locator('.heading .actions > [role="status"]').count()).toBe(regions);
      expect(await textOfFocus(page)).toBe(await report.innerText());
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await page.getByRole('button', { name: /Send|Pause/ }).count()).toBe(0);
      await page.getByText('A test event can be sent once the subscription is resumed.').waitFor();
      await visit(page, address);
      await page.getByText('It can be sent once the subscription is resumed.').waitFor();
      expect(await page.getByRole('button', { name: /Send|Resend/ }).count()).toBe(0);
      await visit(page, `recover?subscription=${numberOf(id)}&what=all&since=2026-01-01T00:00:00.000Z`);
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText(/^Resends .+ The subscription is paused: nothing is sent until it is resumed\./).waitFor();
      await confirm(page, /^Resend \d/);
      await confirm(page, 'Cancel the resend');
      await expect.poll(() => textOfFocus(page)).toMatch(/^Cancelled\. \d+ deliver(y was|ies were) queued\.$/);
      expect(await problemsOf(page)).toEqual([]);
      await visit(page, `recover/completeness?subscription=${numberOf(id)}`);
      await page.getByLabel('Log').fill('gid://service/WebhookDelivery/1');
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByRole('button', { name: /^Resend \d/ }).click();
      const text = 'The subscription is paused: nothing is sent until it is resumed.';
      expect(await page.getByRole('dialog').innerText()).toContain(text);
      await visit(page, `subscriptions/${numberOf(id)}`);
      await confirm(page, 'Resume');
      await page.getByText(/^(Resumed\. Nothing was pending|\d+ delivered)\.$/).waitFor();
    });

    test('a resumed subscription that is paused again says so', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await confirm(page, 'Pause');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      await t.customer.request(place, {});
      await eventually(async () => expect(await t.sql('select 1 from webhook_pending_delivery')).toHaveLength(1));
      receiver.onDelivery = (response) => response.writeHead(410).end();
      await confirm(page, 'Resume');
      await page.getByText(new RegExp(`^Paused again: 410 at ${shownTime}\\.$`)).waitFor();
      receiver.onDelivery = acknowledge;
      await confirm(page, 'Resume');
      await page.getByText('1 delivered.').waitFor();
    });

    test('a timeout is changed within its bounds, including on a narrow screen', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await page.setViewportSize({ width: 320, height: 640 });
      await page.getByRole('button', { name: 'Change the timeout' }).click();
      const dialog = page.getByRole('dialog');
      const field = dialog.getByLabel('Seconds, 5 to 15');
      expect(await field.inputValue()).toBe('5');
      for (const [text, isValid] of [
        ['4', false],
        ['16', false],
        ['7.5', false],
        ['15', true],
      ] as const) {
        await field.fill(text);
        expect(await page.evaluate(`document.querySelector('[name="timeoutSeconds"]').checkValidity()`)).toBe(isValid);
      }
      await dialog.getByRole('button', { name: 'Change the timeout' }).click();
      await page.getByText('The timeout is changed. Attempts in flight keep the earlier one.').waitFor();
      await page.getByText('15 s', { exact: true }).waitFor();
      await page.getByText('198.51.100.7, 2001:db8:1::/64', { exact: true }).waitFor();
      expect(await t.sql('select timeout_seconds from webhook_subscription')).toEqual([{ timeout_seconds: 15 }]);
      expect(await problemsOf(page)).toEqual([]);
      await t.sql('update webhook_subscription set timeout_seconds = 5');
    });

    test('a request header is set, dropped by a move of an earlier release, and removed, and its value is never shown', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      const value = '4d9f0c62b7e1458a9c3a7f20d86b51e4';
      const set = async (button: string) => {
        await page.getByRole('button', { name: button }).click();
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Name').fill('X-Gateway-Key');
        await dialog.getByLabel('Value').fill(value);
        await dialog.getByText(`with every request to ${new URL(receiver.url).origin}, and`).waitFor();
        const sent = page.waitForRequest((request) => request.postData()?.includes(value) === true);
        await dialog.getByRole('button', { name: button }).click();
        expect((await sent).postData()).toContain(JSON.stringify(receiver.url));
        await page.getByText('The header is set. Attempts in flight do not have it.').waitFor();
      };
      await set('Set a header');
      await page.getByText('is sent with every request. Its value cannot be shown.').waitFor();
      await t.customer.request(place, {});
      await eventually(() => expect(receiver.deliveries.at(-1)?.headers['x-gateway-key']).toBe(value));
      const [{ url } = {}] = await t.sql('select callback_url as url from webhook_subscription');
      await t.sql(`update webhook_subscription set callback_url = 'https://other.example/'`);
      await page.reload();
      await page.getByText('has changed since it was set. Check the callback URL.').waitFor();
      await t.sql('update webhook_subscription set callback_url = $1', [url]);
      expect(await page.content()).not.toContain(value);
      await confirm(page, 'Remove the header');
      await page.getByText('The header is removed.').waitFor();
      await page.getByText('None. A gateway in front of the endpoint can need one.').waitFor();
      expect(await problemsOf(page)).toEqual([]);
    });

    test('a secret is checked before it is sent, and during a rotation only no overlap is offered', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await page.getByRole('button', { name: 'Rotate the secret' }).click();
      const dialog = page.getByRole('dialog');
      const secret = `whsec_${'A'.repeat(32)}`;
      const field = dialog.getByLabel('New secret');
      for (const [text, isValid] of [
        ['whsec_short', false],
        [secret.slice(6), false],
        [secret, true],
      ] as const) {
        await field.fill(text);
        expect(await page.evaluate(`document.querySelector('[name="webhookSecret"]').checkValidity()`)).toBe(isValid);
      }
      await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
      await dialog.getByText('The new secret signs now.').waitFor();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await page.getByRole('button', { name: 'Rotate the secret' }).click();
      expect(await dialog.getByRole('option').allTextContents()).toHaveLength(1);
      await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
      await dialog.getByText('The new secret signs now.').waitFor();
      const present = await dialog.locator('pre').innerText();
      await dialog.getByRole('button', { name: 'Close' }).click();

      // The page words what the server refuses.
      await page.getByRole('button', { name: 'Rotate the secret' }).click();
      await field.fill(present);
      await dialog.getByRole('button', { name: 'Rotate the secret' }).click();
      await dialog.getByRole('alert').waitFor();
      expect(await dialog.getByRole('alert').innerText()).toBe(
        'Type another secret than the present one: whsec_ and the base64 of 24 to 64 bytes. Or leave the field empty.',
      );
      expect(await problemsOf(page)).toEqual([]);
    });
  });
});
