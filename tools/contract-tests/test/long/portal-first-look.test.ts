import { acknowledge, missing } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createPortalLink,
  type FailingEndpoint,
  follow,
  type PortalSystem,
  problemsOf,
  shownMinute,
  startFailingEndpoint,
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

// What the owner of a webhook that fails looks for first.

const browser = useBrowser('The portal');

const place = parse('mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let page: Page;

const numberOf = (id: string): string => id.split('/').at(-1) ?? '';
const pathOf = (): string => `subscriptions/${numberOf(endpoint.subscription.id)}`;
const mainText = (): Promise<string> => page.getByRole('main').innerText();
const redBox = (): Promise<string> => page.locator('.why').first().innerText();

async function open(abilities?: readonly string[]): Promise<void> {
  const options = { viewport: { width: 1280, height: 820 }, timezoneId: 'UTC', reducedMotion: 'reduce' } as const;
  ({ page } = await browser.open(t.origin, options));
  await follow(page, await createPortalLink(t.customer, abilities));
}

/** Changes the data of the responses that have it. */
async function change(edit: (text: string) => string): Promise<void> {
  await page.route('**/graphql', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: edit(await response.text()) });
  });
}

/** The names of the subscriptions, as they are shown. */
const names = (): Promise<string[]> => page.locator('.sub h2').allInnerTexts();

describe.skipIf(browser.isAbsent)('an owner of a failing webhook', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    endpoint = await startFailingEndpoint(t);
    // Newer than the one that fails, so the API lists them first.
    for (const name of ['Archive', 'Billing'])
      await subscribe(t.customer, {
        callbackUrl: endpoint.receiver.url,
        eventTypes: [{ type: 'api_key.created' }],
        name,
      });
  });
  afterAll(async () => {
    await endpoint.receiver.close();
    await t.close();
  });

  test('sees failing subscriptions first, how many there are, and what failed', async () => {
    await open();
    await page.getByText('1 of 3 failing · 2 healthy').waitFor();
    expect(await names()).toEqual(['CRM of the north', 'Billing', 'Archive']);
    const row = page.locator('section', { hasText: 'CRM of the north' });
    await row.getByText('3 failed').waitFor();
    await row.getByText('The endpoint responded: upstream connect error').waitFor();
    expect(await row.innerText()).toMatch(new RegExp(`waiting since ${shownMinute}`));
    await row.getByRole('link', { name: 'Resend' }).click();
    await page.getByRole('heading', { name: 'Resend' }).waitFor();
    expect(await page.getByLabel('Subscription').inputValue()).toBe(numberOf(endpoint.subscription.id));
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Resends 3 deliveries.').waitFor();
  });

  test('keeps the order of the list while the focus or the pointer is in it', async () => {
    await open();
    await page.clock.install();
    const numbers = Array.from({ length: 20 }, (_, number) => number);
    let failing = [19, 5];
    await change((text) => {
      const { data } = JSON.parse(text);
      const [node] = data.webhookSubscriptions?.nodes ?? [];
      if (!node?.health) return text;
      data.webhookSubscriptions.nodes = numbers.map((number) => ({
        ...node,
        id: `${node.id}${number}`,
        name: `No. ${number}`,
        health: { ...node.health, state: failing.includes(number) ? 'FAILING' : 'HEALTHY' },
      }));
      return JSON.stringify({ data });
    });
    const orderOf = (first: readonly number[]) =>
      [...first, ...numbers.filter((number) => !first.includes(number))].map((number) => `No. ${number}`);
    await visit(page, '');
    await page.getByText('2 of 20 failing').waitFor();
    expect(await names()).toEqual(orderOf([5, 19]));
    const link = page.getByRole('link', { name: 'No. 3', exact: true });
    await link.focus();
    failing = [12];
    await page.clock.runFor(31_000);
    await page.getByText('1 of 20 failing').waitFor();
    expect(await names()).toEqual(orderOf([5, 19]));
    expect(await page.evaluate('document.activeElement.textContent')).toBe('No. 3');
    await link.hover();
    await link.blur();
    failing = [12, 13];
    await page.clock.runFor(31_000);
    await page.getByText('2 of 20 failing').waitFor();
    expect(await names()).toEqual(orderOf([5, 19]));
    await page.mouse.move(0, 0);
    await page.clock.runFor(31_000);
    await expect.poll(names).toEqual(orderOf([12, 13]));
  });

  test('reads on the page of the subscription what happened, and what happens next', async () => {
    // Newer deliveries, which have no attempt while the endpoint is on hold.
    for (let count = 0; count < 30; count += 1) await t.customer.request(place, {});
    await expect
      .poll(() => t.sql('select from webhook_receiver_state where breaker_open_until is not null'))
      .toHaveLength(1);
    await open();
    await visit(page, pathOf());
    await expect.poll(redBox).toContain('The endpoint responded: upstream connect error');
    const box = await redBox();
    expect(box).toContain('Check that the receiver runs');
    expect(box).toMatch(
      /If it is still failing on \d+ \w+ at \d\d:\d\d, the subscription is paused\. You can resend anything that failed\./,
    );
    expect(box).toContain('View attempt');
    await page.getByText('3 now.').waitFor();
    await page.getByText('Of the 5 attempts shown here: 503 × 5.').waitFor();
    const attempts = page.getByRole('table').filter({ hasText: 'Took' }).getByRole('row');
    expect(await attempts.count()).toBe(6);
    const help = page.getByRole('link', { name: 'Help: a webhook did not arrive' });
    expect(await help.getAttribute('href')).toBe('https://docs.example/webhook-did-not-arrive.md');
    expect(await mainText()).toContain('Signed with one secret. It cannot be shown again.');
    await attempts.nth(1).getByRole('link').click();
    await page.getByRole('heading', { name: 'order.placed' }).waitFor();
    expect(new URL(page.url()).search).toMatch(/^\?attempt=\d+$/);
  });

  test('confirms the text that the dialog had when it was opened', async () => {
    await open();
    await page.clock.install();
    await visit(page, pathOf());
    await page.getByRole('button', { name: /^Send pending now/ }).click();
    const title = page.getByRole('dialog').getByRole('heading');
    const opened = await title.innerText();
    await change((text) => text.replaceAll(/"pendingCount":\d+/g, '"pendingCount":77'));
    await page.clock.runFor(16_000);
    await expect.poll(() => page.locator('.why > .actions > button').innerText()).toBe('Send pending now (77)');
    expect(await title.innerText()).toBe(opened);
  });

  test('does not see the response of the endpoint without the ability to read it', async () => {
    await open(['READ', 'OPERATE']);
    await visit(page, pathOf());
    await expect.poll(redBox).toContain('Check that the receiver runs');
    expect(await mainText()).not.toContain('The endpoint responded');
    expect(await mainText()).toMatch(/Of the 5 attempts shown here: 503/);
  });

  test('reads hours with an axis, a legend and their counts, once they are counted', async () => {
    await open();
    await change((text) => {
      const { data } = JSON.parse(text);
      for (const node of [data.webhookSubscription, ...(data.webhookSubscriptions?.nodes ?? [])]) {
        if (!node?.health) continue;
        for (const hour of node.statistics) Object.assign(hour, { deliveredCount: 0, failedAttemptCount: 0 });
        Object.assign(node.statistics.at(-2), { deliveredCount: 1200, failedAttemptCount: 22 });
      }
      return JSON.stringify({ data });
    });
    await visit(page, pathOf());
    const bars = page.getByRole('figure').filter({ hasText: '1,200 delivered' });
    expect(await bars.innerText()).toMatch(
      new RegExp(
        String.raw`\d \w+ at \d\d:00\s+at most 1,222 an hour\s+now\s+1,200 delivered\s+22 attempts failed in 24 h\s+counted until ${shownMinute}, once a minute`,
      ),
    );
    expect(await bars.locator('title').nth(-2).textContent()).toMatch(/\d\d:00: 1,200 delivered, 22 attempts failed$/);
    await page.getByText('Hour by hour').click();
    await page.getByRole('row', { name: /\d\d:00 1,200 22$/ }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
  });

  test('does not see that nothing was delivered while that is not counted yet', async () => {
    await open();
    await change((text) => {
      const { data } = JSON.parse(text);
      for (const node of [data.webhookSubscription, ...(data.webhookSubscriptions?.nodes ?? [])]) {
        if (!node?.health) continue;
        Object.assign(node.health, { lastDeliveredAt: null, oldestPendingAt: null });
        for (const hour of node.statistics) Object.assign(hour, { deliveredCount: 0, failedAttemptCount: 0 });
      }
      return JSON.stringify({ data });
    });
    await visit(page, '');
    const row = page.locator('section', { hasText: 'Billing' });
    // No delivery is kept of it. Others can have been delivered in the last minute.
    await row.getByText('no deliveries yet').waitFor();
    const other = page.locator('section', { hasText: 'CRM of the north' });
    expect(await other.innerText()).toMatch(new RegExp(`last delivered: none counted until ${shownMinute}`));
    expect(await other.innerText()).toMatch(
      new RegExp(`Nothing in the last 24 hours, counted until ${shownMinute}, once a minute\\.`),
    );
    expect(await mainText()).not.toContain('nothing delivered');
  });

  test('finds the response first, with the advice beside the attempt', async () => {
    await open();
    const [row = missing()] = await t.sql('select max(delivery_id) as id from webhook_attempt where number = 15');
    await visit(page, `deliveries/${String(row['id'])}`);
    const selected = page.locator('.time li[aria-current=true]');
    await expect
      .poll(() => selected.innerText())
      .toMatch(/Check that [^]+The endpoint responded: upstream connect error/);
    await page.getByText('server: edge-proxy').waitFor();
    expect(await mainText()).toContain(
      'Deedwire no longer tries this delivery. Once the endpoint works, press Resend.',
    );
    expect(await page.getByRole('link', { name: 'Response', exact: true }).getAttribute('aria-current')).toBe('true');
    await page.getByRole('link', { name: 'Request', exact: true }).click();
    await page.getByText('Formatted for reading. "Text" shows the exact bytes.').waitFor();
  });

  test('still finds what failed after the repair', async () => {
    endpoint.receiver.onDelivery = acknowledge;
    const send = parse(`mutation ($id: ID!) {
      sendPendingWebhookDeliveries(input: { subscriptionId: $id }) { userErrors { message } } }`);
    await t.customer.request(send, { id: endpoint.subscription.id });
    await expect.poll(() => t.sql('select from webhook_pending_delivery')).toEqual([]);
    await open();
    await page.getByText('0 of 3 failing').waitFor();
    const row = page.locator('section', { hasText: 'CRM of the north' });
    await row.getByText('3 failed').waitFor();
    await visit(page, pathOf());
    expect(await page.locator('.why').count()).toBe(0);
    // Read from the delivery, because the minute is not counted yet.
    const fact = page.locator('.facts > div', { hasText: 'Last delivered' });
    await expect.poll(() => fact.innerText()).toMatch(/UTC/);
    await page.getByText('3 now.').waitFor();
    // A delivered delivery shows what was sent.
    const [delivered = missing()] = await t.sql(
      'select max(delivery_id) as id from webhook_attempt where response_status < 300',
    );
    await visit(page, `deliveries/${String(delivered['id'])}`);
    expect(await page.getByRole('link', { name: 'Request', exact: true }).getAttribute('aria-current')).toBe('true');
  });
});
