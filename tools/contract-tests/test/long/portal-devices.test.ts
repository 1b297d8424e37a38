import { acknowledge } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  change,
  expectCurrent,
  expectFitsNarrow,
  expectPrintable,
  pageScript,
  type Paths,
  pathsOf,
  startTranslation,
} from '../support/portal-browsers.ts';
import {
  createPortalLink,
  type FailingEndpoint,
  follow,
  type PortalSystem,
  problemsOf,
  startFailingEndpoint,
  startPortalSystem,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';

// What browsers, their translators and printers, small screens and the texts of others do to the pages.

const browser = useBrowser('The portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let paths: Paths;

async function open(options: object = {}, script = ''): Promise<Page> {
  const { page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 }, ...options });
  await page.addInitScript(script);
  await follow(page, await createPortalLink(t.customer));
  return page;
}

const sendPending = parse(
  'mutation ($id: ID!) { sendPendingWebhookDeliveries(input: { subscriptionId: $id }) { userErrors { message } } }',
);

describe.skipIf(browser.isAbsent)('the pages of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    endpoint = await startFailingEndpoint(t);
    paths = await pathsOf(t, endpoint);
  });
  afterAll(async () => {
    await endpoint.receiver.close();
    await t.close();
  });

  test('need no method that Chrome 123, Firefox 120 or Safari 17.5 does not have', async () => {
    const page = await open({}, pageScript('remove-newer-methods'));
    await change(page, 'Subscriptions', ({ webhookSubscriptions }) => {
      for (const node of webhookSubscriptions.nodes) node.name = null;
    });
    for (const path of [paths.home, paths.subscription, paths.attempt]) {
      await visit(page, path);
      expect(await page.locator('.notice').count()).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    await page.getByLabel('Secret of the receiver').fill(endpoint.subscription.secret);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('It was signed with the secret.').waitFor();
    await visit(page, paths.completeness);
    await page
      .getByLabel('Log')
      .fill(endpoint.receiver.deliveries.map(({ headers }) => headers['webhook-id']).join('\n'));
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('region', { name: 'Result' }).waitFor();
  });

  test('name the wrong secret with code as code, and lead to the subscription whose secret it should be', async () => {
    const page = await open({}, pageScript('remove-newer-methods'));
    await visit(page, paths.attempt);
    await page.getByLabel('Secret of the receiver').fill(`whsec_${'canary'.repeat(7)}A=`);
    await page.getByRole('button', { name: 'Verify' }).click();
    const result = page.getByRole('status', { name: 'Result' });
    await result.getByText('SIGNATURE_MISMATCH').first().waitFor();
    expect(await result.innerText()).not.toContain('`');
    expect(await result.locator('code').allInnerTexts()).toContain('X-Service-Webhook-Subscription-Id');
    await result.getByRole('link', { name: 'View subscription' }).click();
    await page.getByRole('heading', { name: 'CRM of the north' }).waitFor();
  });

  test('show a name as it is written, including in the title of the tab', async () => {
    const name = 'می\u200Cخواهم 👨\u200D👩\u200D👧 ❤\uFE0F';
    const { id } = await subscribe(t.customer, {
      callbackUrl: endpoint.receiver.url,
      name,
      eventTypes: [{ type: 'order.placed' }],
    });
    const page = await open();
    await page.getByRole('link', { name }).click();
    const heading = page.getByRole('heading', { level: 1 });
    await expect.poll(() => heading.innerText()).toBe(name);
    expect(await page.locator('mark').count()).toBe(0);
    expect(await page.title()).toBe(`${name} · Webhooks`);
    await change(page, 'Subscription', ({ webhookSubscription }) => (webhookSubscription.name = 'pay\u200Cpal\u202E'));
    await page.reload();
    await expect.poll(() => heading.innerText()).toBe('payU+200CpalU+202E');
    expect(await page.title()).toBe('payU+200CpalU+202E · Webhooks');
    await t.customer.request(
      parse('mutation ($id: ID!) { deleteWebhookSubscription(input: { id: $id }) { userErrors { message } } }'),
      { id },
    );
  });

  test('say that something failed, and copy where, without what it shows', async () => {
    const page = await open({ permissions: ['clipboard-read', 'clipboard-write'] });
    let failures = 1;
    await change(page, 'Subscription', (data) => {
      if ((failures -= 1) >= 0) data.webhookSubscription.eventTypes = [null];
    });
    // Shown again.
    await visit(page, paths.subscription);
    await page.getByRole('heading', { name: 'CRM of the north' }).waitFor();
    failures = 9;
    await page.reload();
    await page.getByRole('heading', { name: 'Something in this page failed' }).waitFor();
    expect(await page.getByRole('main').innerText()).toMatch(/TypeError: Cannot /);
    expect(await page.getByRole('main').innerText()).not.toMatch(/defect|updated/);
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Copy details' }).click();
    await page.getByRole('status').getByText('Copied').waitFor();
    const copied: string = await page.evaluate('navigator.clipboard.readText()');
    const [name, path, , ...places] = copied.split('\n');
    expect([name, path]).toEqual(['TypeError', '/customer/portal/…/subscriptions/…']);
    expect(places[0]).toMatch(/^subscription-[\w-]+\.js:\d+:\d+$/);
    expect(browser.takeProblems().filter((problem) => !problem.includes('Cannot '))).toEqual([]);
  });

  test('stay when something is dropped beside a zone', async () => {
    const page = await open({}, pageScript('drop'));
    await visit(page, paths.completeness);
    const drop = (...given: [selector: string, type: string, kind: string]) =>
      page.evaluate<boolean>(`dropOn(...${JSON.stringify(given)})`);
    for (const type of ['dragover', 'drop'])
      for (const kind of ['file', 'text'] as const)
        expect({ type, kind, isRefused: await drop('h1', type, kind) }).toEqual({ type, kind, isRefused: true });
    expect(await drop('textarea', 'drop', 'text')).toBe(false);
    expect(await page.getByText('receiver.log').count()).toBe(0);
    expect(await drop('.field', 'drop', 'file')).toBe(true);
    await page.getByText('receiver.log, 2 bytes').waitFor();
  });

  test('have headings beside values, and controls for fingers, on a narrow screen', async () => {
    const page = await open({ viewport: { width: 320, height: 640 } });
    for (const path of [paths.subscription, paths.deliveries]) {
      await visit(page, path);
      await expectFitsNarrow(page);
    }
    await page
      .getByRole('table')
      .getByRole('row', { name: 'order.placed' })
      .first()
      .getByRole('cell')
      .first()
      .waitFor();
    expect(await page.getByRole('columnheader').allInnerTexts()).toContain('Status');
  });

  test('print everything that they show, black on white, and no control', async () => {
    const page = await open({ colorScheme: 'dark' });
    const body = Array.from({ length: 3000 }, (_, line) => `line ${line}`).join('\n');
    await change(page, 'Exchange', ({ webhookDelivery: { attempts } }) => (attempts[0].exchange.responseBody = body));
    await page.emulateMedia({ media: 'print' });
    await visit(page, `${paths.delivery}?side=response&view=text`);
    await expectPrintable(page);
    expect(await page.locator('.time > li').count()).toBe(2);
    expect(await page.locator('pre').last().innerText()).toBe(body);
  });

  // The last one: the endpoint recovers.
  test('stay current while a browser translates them, even when the endpoint recovers', async () => {
    const { page: plain } = await browser.open(t.origin);
    const { page: translated } = await browser.open(t.origin);
    const { show, pass } = await startTranslation(t, plain, translated);
    const verify = await show(paths.attempt);
    for (const secret of ['', 'wrong', endpoint.subscription.secret]) {
      for (const page of Object.values(verify)) {
        await page.getByLabel('Secret of the receiver').fill(secret);
        await page.getByRole('button', { name: 'Verify' }).click();
      }
      await expectCurrent(verify);
    }
    const shown = [await show(paths.home), await show(paths.subscription)];
    await t.customer.request(parse('mutation { placeOrder(input: { item: "Ada" }) { order { id } } }'), {});
    await pass(60_000);
    for (const pair of shown) {
      await pair.plain.getByText(/^2\b/).first().waitFor();
      await expectCurrent(pair);
    }
    endpoint.receiver.onDelivery = acknowledge;
    await t.customer.request(sendPending, { id: endpoint.subscription.id });
    await expect.poll(() => t.sql('select from webhook_pending_delivery')).toEqual([]);
    await pass(60_000);
    for (const pair of shown) {
      for (const page of Object.values(pair)) await page.getByText('Healthy', { exact: true }).first().waitFor();
      await expectCurrent(pair);
    }
  });
});
