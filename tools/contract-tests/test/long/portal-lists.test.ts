import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acknowledge, type Receiver, startReceiver } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createPortalLink,
  type FailingEndpoint,
  follow,
  operationOf,
  pages,
  type PortalSystem,
  problemsOf,
  screenshot,
  startFailingEndpoint,
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

const browser = useBrowser('The lists of the portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let healthy: Receiver;
let documents: Record<string, string>;
let page: Page;

const place = parse('mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }');
const sendPending = parse(`mutation ($id: ID!) {
  sendPendingWebhookDeliveries(input: { subscriptionId: $id }) { userErrors { message } } }`);

/** As one word, so that no line ends in it. */
const longName = 'Orders-of-the-north-and-of-the-south-'.repeat(3).slice(0, 100);

const list = () => page.getByRole('region', { name: 'List of deliveries' });
const links = () => list().getByRole('row').getByRole('link');
const hrefs = (): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('main tbody a')].map((each) => each.pathname)`);
const heights = (): Promise<number[]> =>
  page.evaluate(`[...document.querySelectorAll('main tbody a')].map((each) => each.offsetHeight)`);
const focused = (): Promise<string> =>
  page.evaluate(`((each) => each.getAttribute('aria-label') ?? each.textContent)(document.activeElement)`);
const isOnBody = (): Promise<boolean> => page.evaluate('document.activeElement === document.body');
const scrollTop = (): Promise<number> => page.evaluate('scrollY');
const entries = (): Promise<number> => page.evaluate('history.length');
/** Subscriptions of the other endpoint are named in the rows. */
const failing = (): string => endpoint.subscription.id.split('/').at(-1) ?? '';

/** Holds the answer of each request. */
async function holdAnswers(): Promise<void> {
  await page.route('**/graphql', () => {});
}

describe.skipIf(browser.isAbsent)('somebody who uses the lists of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    ({ documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8')));
    endpoint = await startFailingEndpoint(t);
    healthy = await startReceiver();
    await subscribe(t.customer, {
      callbackUrl: healthy.url,
      eventTypes: [{ type: 'order.placed' }],
      name: longName,
    });
    for (let count = 0; count < 30; count += 1) await t.customer.request(place, {});
    await healthy.waitFor(30);
  });
  afterAll(async () => {
    await endpoint.receiver.close();
    await healthy.close();
    await t.close();
  });
  beforeEach(async () => {
    ({ page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 }, timezoneId: 'UTC' }));
    await page.clock.install();
    await follow(page, await createPortalLink(t.customer));
  });

  test('reads what pending deliveries wait for, and one long name squeezes no other column', async () => {
    await visit(page, 'deliveries');
    expect(await list().innerText()).toContain('On hold: the endpoint is failing');
    expect(await list().innerText()).not.toMatch(/\bago\b/);
    expect(await heights()).toHaveLength(50);
    expect(Math.max(...(await heights()))).toBeLessThan(30);
    expect(await page.getByTitle(longName).first().innerText()).toBe(longName);
    const edits = new Map([[JSON.stringify(longName), JSON.stringify('ש👩‍👩‍👧'.repeat(40) + 'x'.repeat(300))]]);
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      const body = [...edits].reduce((edited, [from, to]) => edited.replaceAll(from, to), text);
      await route.fulfill({ response, body });
    });
    for (const [width, colorScheme] of [
      [1280, 'dark'],
      [320, 'light'],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 640 });
      await visit(page, 'deliveries');
      await screenshot(page, `lists-long-name-${width}`);
      expect({ width, problems: await problemsOf(page) }).toEqual({ width, problems: [] });
      expect(Math.max(...(await heights()))).toBeLessThan(30);
      // The name is of the right-to-left script, and starts at the right.
      expect(
        await page.evaluate(`(() => {
        const name = document.querySelector('[title^="ש"] bdi');
        const range = new Range();
        range.setStart(name.firstChild, 0);
        range.setEnd(name.firstChild, 1);
        return name.getBoundingClientRect().right - range.getBoundingClientRect().right;
      })()`),
      ).toBeCloseTo(0, 0);
    }
    await page.setViewportSize({ width: 1280, height: 640 });
    edits.set('"type":"order.placed"', `"type":"order.${'x'.repeat(200)}"`);
    await visit(page, 'deliveries');
    await screenshot(page, 'lists-long-type');
    expect(await problemsOf(page)).toEqual([]);
    const times = "[...document.querySelectorAll('main tbody time')].map((each) => each.offsetHeight)";
    expect(Math.max(...(await page.evaluate<number[]>(times)))).toBeLessThan(70);
    await visit(page, `deliveries?subscription=${failing()}`);
    expect(await list().getByRole('row').first().innerText()).not.toContain('Subscription');
  });

  test('gets the page, the position and the focus back with Back and Forward', async () => {
    await visit(page, 'deliveries');
    const target = links().nth(40);
    const href = (await hrefs())[40];
    await target.scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 300);
    await expect.poll(scrollTop).toBeGreaterThan(1000);
    const top = await scrollTop();
    await target.click();
    await page.getByRole('heading', { name: 'order.placed' }).waitFor();
    await page.getByRole('link', { name: 'Response', exact: true }).waitFor();
    expect([await scrollTop(), await focused()]).toEqual([0, 'order.placed']);

    // Another view of the delivery is no further entry.
    const count = await entries();
    const { pathname } = new URL(page.url());
    await page.getByRole('link', { name: 'Text', exact: true }).click();
    await page.waitForURL(/view=text/);
    expect(await entries()).toBe(count);

    await holdAnswers();
    await page.goBack();
    await expect.poll(scrollTop).toBeCloseTo(top, -1);
    await expect.poll(() => page.evaluate('document.activeElement.pathname')).toBe(href);
    await page.goForward();
    await page.getByRole('heading', { name: 'order.placed' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(pathname);
    expect(await page.locator('.loading').count()).toBe(0);
    await page.unroute('**/graphql');

    // A reload has no results, and an entry that is new is read from its beginning.
    await page.goBack();
    await expect.poll(scrollTop).toBeCloseTo(top, -1);
    await page.reload();
    await expect.poll(scrollTop).toBeCloseTo(top, -1);
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await links().first().waitFor();
    expect(await scrollTop()).toBe(0);
  });

  test('reads the list from its beginning after Older and Newest', async () => {
    await visit(page, 'deliveries');
    const first = await hrefs();
    const summary = await list().getByRole('status').innerText();
    await list().getByRole('link', { name: 'Older' }).press('Enter');
    await page.waitForURL(/after=/);
    await expect.poll(() => list().getByRole('status').innerText()).toMatch(/^\d+ deliveries, /);
    expect(await list().getByRole('status').innerText()).not.toBe(summary);
    expect(await focused()).toBe('List of deliveries');
    expect((await list().boundingBox())?.y).toBeGreaterThanOrEqual(0);
    expect((await list().getByRole('status').boundingBox())?.y).toBeLessThan(820);
    await list().getByRole('link', { name: 'Newest' }).press('Enter');
    await expect.poll(hrefs).toEqual(first);
    expect(await focused()).toBe('List of deliveries');
    expect((await list().boundingBox())?.y).toBeLessThan(820);
    await page.goBack();
    await expect.poll(focused).toBe('Newest');
    await page.goBack();
    await expect.poll(focused).toBe('Older');
  });

  test('is offered newer deliveries, and no row moves until then', async () => {
    await visit(page, 'deliveries');
    const before = await hrefs();
    for (let count = 0; count < 2; count += 1) await t.customer.request(place, {});
    await expect.poll(() => t.sql('select 1 from webhook_delivery')).toHaveLength(68);
    await page.clock.fastForward(20_000);
    const show = list().getByRole('button', { name: 'Show 4 new' });
    await show.waitFor();
    expect(await hrefs()).toEqual(before);
    await show.press('Enter');
    await expect.poll(() => show.count()).toBe(0);
    expect((await hrefs()).slice(4)).toEqual(before.slice(0, 46));
    expect(await focused()).toBe('List of deliveries');
  });

  test('sees the current status of each row at its place', async () => {
    await visit(page, `deliveries?subscription=${failing()}&status=PENDING`);
    const before = await hrefs();
    expect(before.length).toBeGreaterThan(30);
    expect(await list().getByText('Pending', { exact: true }).count()).toBe(before.length);
    const updated = list().getByText(/^Updated /);
    const text = await updated.innerText();
    endpoint.receiver.onDelivery = acknowledge;
    await t.customer.request(sendPending, { id: endpoint.subscription.id });
    await expect.poll(() => t.sql('select 1 from webhook_pending_delivery'), { timeout: 60_000 }).toEqual([]);
    await page.clock.fastForward(20_000);
    await expect.poll(() => list().getByText('Delivered', { exact: true }).count()).toBe(before.length);
    expect(await hrefs()).toEqual(before);
    expect(await list().innerText()).not.toContain('on hold');
    expect(await updated.innerText()).not.toBe(text);

    // Without input, the page stops polling and shows when it was read.
    await page.clock.fastForward(601_000);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(operationOf(request, documents) ?? ''));
    const last = await updated.innerText();
    await page.clock.fastForward(60_000);
    expect([requests, await updated.innerText()]).toEqual([[], last]);
    await list().getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('No deliveries match.').waitFor();
  });

  test('skips to the content, and on the list of deliveries past its filters', async () => {
    const skip = page.getByRole('link', { name: 'Skip to content' });
    for (const path of ['', 'deliveries']) {
      await visit(page, path);
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('Skip to content');
      expect((await skip.boundingBox())?.y).toBeGreaterThanOrEqual(0);
      await page.keyboard.press('Enter');
      expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true);
      expect(new URL(page.url()).hash).toBe('');
    }
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('order.placed');
  });

  test('keeps the focus when a focused button is removed', async () => {
    await visit(page, `subscriptions/${failing()}`);
    const pause = page.getByRole('button', { name: 'Pause', exact: true });
    await pause.first().press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await expect.poll(() => pause.count()).toBe(0);
    expect(await isOnBody()).toBe(false);
    await page.route('**/graphql', (route) =>
      operationOf(route.request(), documents) === 'Deliveries'
        ? route.fulfill({ status: 503, json: {} })
        : route.continue(),
    );
    await visit(page, 'deliveries');
    const again = page.getByRole('button', { name: 'Try again' });
    await again.focus();
    await page.unroute('**/graphql');
    await page.keyboard.press('Enter');
    await links().first().waitFor();
    expect(await isOnBody()).toBe(false);
  });

  test('sees the heading in the title, opens links in other tabs, and reads that a page does not exist', async () => {
    for (const path of ['deliveries', `subscriptions/${failing()}`, 'nothing', 'deliveries/x']) {
      await visit(page, path);
      await expect
        .poll(async () => `${await page.getByRole('heading', { level: 1 }).innerText()} · Webhooks`)
        .toBe(await page.title());
    }
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    expect(browser.takeProblems()).toEqual(Array(2).fill(expect.stringMatching(/^404 for /)));
    await visit(page, 'deliveries');
    for (const options of [{ button: 'middle' }, { modifiers: ['ControlOrMeta'] }] as const) {
      const opened = page.context().waitForEvent('page');
      await links()
        .first()
        .click({ ...options, modifiers: [...(options.modifiers ?? [])] });
      await (await opened).getByRole('heading', { name: 'order.placed' }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/deliveries$/);
    }
  });
});
