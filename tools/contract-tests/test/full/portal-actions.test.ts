import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

const browser = useBrowser('The portal');

let t: PortalSystem;
let receiver: Receiver;
let documents: Record<string, string>;
let id: string;

const refer = parse('mutation { createReferral(input: { clientName: "Grace Hopper" }) { referral { id } } }');

const fail: Respond = (response) => response.writeHead(503).end('upstream connect error\nreset before headers\n');

/** The endpoint has failed for a while: two deliveries are pending, and the breaker stays open for minutes. */
async function startOutage(): Promise<void> {
  receiver.onDelivery = fail;
  const count = receiver.deliveries.length;
  for (let index = 0; index < 2; index += 1) await t.partner.request(refer, {});
  await receiver.waitFor(count + 2);
  await eventually(async () =>
    expect(await t.sql('select 1 from webhook_pending_delivery where attempts > 0')).toHaveLength(2),
  );
  await t.system.apps['webhook-worker'].stop();
  await t.sql(`update webhook_receiver_state
    set consecutive_failures = 20, breaker_probes = 7, breaker_open_until = now() + interval '5 minutes'`);
  await t.sql(`update webhook_pending_delivery set due_at = now() + interval '1 hour'`);
  await t.system.restart('webhook-worker');
}

/** The endpoint works, and nothing is pending. */
async function endOutage(): Promise<void> {
  receiver.onDelivery = acknowledge;
  await t.sql('update webhook_subscription set send_pending_at = null');
  await t.partner.request(
    parse(
      'mutation ($id: ID!) { sendPendingWebhookDeliveries(input: { subscriptionId: $id }) { userErrors { code } } }',
    ),
    { id },
  );
  await eventually(async () => expect(await t.sql('select 1 from webhook_pending_delivery')).toEqual([]));
  await t.sql('update webhook_subscription set send_pending_at = null');
}

const numberOf = (gid: string): string => gid.split('/').at(-1) ?? missing();

async function openPage(path: string, abilities?: readonly string[]): Promise<Page> {
  const { page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } });
  await follow(page, await createPortalLink(t.partner, abilities));
  await visit(page, path);
  return page;
}

async function confirm(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: label }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: label }).click();
}

/** The newest delivery, as a page. */
async function newestDelivery(): Promise<string> {
  const { webhookDeliveries } = await t.partner.request<{ webhookDeliveries: { nodes: { id: string }[] } }, object>(
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
    ({ id } = await subscribe(t.partner, { callbackUrl: receiver.url, eventTypes: [{ type: 'referral.created' }] }));
    await t.partner.request(refer, {});
    await receiver.waitFor(1);
  });
  afterAll(async () => {
    await receiver.close();
    await t.close();
  });

  describe('while the endpoint fails', () => {
    beforeAll(startOutage);
    afterAll(endOutage);

    test('a test event shows what the endpoint answered, although other deliveries are on hold', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await confirm(page, 'Send a test event');
      const status = page.getByRole('dialog').getByRole('status');
      await expect.poll(() => status.innerText()).toMatch(/Your endpoint answered 503 in [\d,]+ ms\./);
      await expect.poll(() => status.innerText()).toContain('upstream connect error');
      expect(await t.sql('select 1 from webhook_receiver_state where breaker_open_until > now()')).toHaveLength(1);
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
      expect(await dialog.locator('pre').count()).toBe(0);
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
      await expect.poll(() => status.innerText()).toBe('Still 503: upstream connect error …');
      expect(receiver.deliveries.length).toBe(sent + 1);
      expect(await section.getByRole('button', { name: 'Send pending now' }).count()).toBe(0);
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, 'still-failing');
      // The page usually looks each 30 s.
      await expect.poll(() => queries.filter((name) => name === 'Subscriptions').length).toBeGreaterThan(3);
    });

    test('pending deliveries of an endpoint that is not on hold are sent up to the eighth failure', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await page.route('**/graphql', async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replaceAll(/"breakerOpenUntil":"[^"]+"/g, '"breakerOpenUntil":null');
        await route.fulfill({ response, body });
      });
      await page.reload();
      await page.getByRole('button', { name: 'Send pending now' }).click();
      expect(await page.getByRole('dialog').innerText()).toContain(
        'If 8 in a row fail, the rest stay on hold until one succeeds.',
      );
    });

    test('a page looks less often while few points are left', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await page.route('**/graphql', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), RateLimit: '"sessions";r=900;t=1' } });
      });
      await confirm(page, 'Pause');
      await page.getByText('Paused', { exact: true }).waitFor();
      const queries: string[] = [];
      page.on('request', (request) => queries.push(operationOf(request, documents) ?? ''));
      await page.waitForTimeout(3_500);
      expect(queries).toEqual([]);
      await confirm(page, 'Resume');
      await page.getByText('Paused', { exact: true }).waitFor({ state: 'detached' });
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

    test('a delivery is quietly sent again, and a time-out is named', async () => {
      const page = await openPage(await newestDelivery());
      receiver.onDelivery = () => {};
      expect(await page.getByRole('button', { name: 'Resend' }).getAttribute('class')).toBe('');
      await confirm(page, 'Resend');
      await page.getByText('Waiting for the answer of your endpoint').waitFor();
      await page.getByText(/^No complete answer: Timeout, after 5,\d{3} ms\.$/).waitFor();
    });

    test('a delivery that is not answered leads to its page', async () => {
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await page.clock.install();
      await page.reload();
      await page.route('**/graphql', async (route) => {
        if (operationOf(route.request(), documents) !== 'Delivery') return route.fallback();
        const response = await route.fetch();
        const { data } = await response.json();
        const webhookDelivery = { ...data.webhookDelivery, attempts: [] };
        await route.fulfill({ response, json: { data: { webhookDelivery } } });
      });
      await confirm(page, 'Send a test event');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Waiting for the answer').waitFor();
      await expect
        .poll(async () => {
          await page.clock.runFor(1_000);
          return dialog.innerText();
        })
        .toContain('Still waiting…');
      await dialog.getByRole('link', { name: 'See the delivery' }).click();
      await page.waitForURL(/deliveries\/\d+$/);
    });

    test('a pause takes away what would not be sent, and resuming says so', async () => {
      const address = await newestDelivery();
      const page = await openPage(`subscriptions/${numberOf(id)}`);
      await confirm(page, 'Pause');
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(await page.getByRole('button', { name: /Send|Pause/ }).count()).toBe(0);
      await visit(page, address);
      await page.getByText('It can be sent once the subscription is resumed.').waitFor();
      expect(await page.getByRole('button', { name: /Send|Resend/ }).count()).toBe(0);
      await visit(page, `subscriptions/${numberOf(id)}`);
      await confirm(page, 'Resume');
      await page.getByText('Resumed. Nothing was pending.').waitFor();
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

      // What the server refuses is said in words of the page.
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
