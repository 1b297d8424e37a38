import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { acknowledge, missing } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

// What browsers, their translators and printers, small screens and the texts of others do to the pages.

const browser = useBrowser('The portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let documents: Record<string, string>;
let paths: Record<string, string>;

const numberOf = (id: string): string => id.split('/').at(-1) ?? missing();

async function open(options: object = {}, script = ''): Promise<Page> {
  const { page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 }, ...options });
  await page.addInitScript(script);
  await follow(page, await createPortalLink(t.partner));
  return page;
}

/** Changes the data of an operation. */
// oxlint-disable-next-line typescript/no-explicit-any -- any JSON
async function change(page: Page, operation: string, edit: (data: any) => unknown): Promise<void> {
  await page.route('**/graphql', async (route) => {
    if (operationOf(route.request(), documents) !== operation) return route.fallback();
    const response = await route.fetch();
    const { data } = await response.json();
    edit(data);
    await route.fulfill({ response, json: { data } });
  });
}

/** Runs before the scripts of each page. The compiler does not know browsers here. */
const pageScript = (name: string): string =>
  readFileSync(join(import.meta.dirname, `../support/page-scripts/${name}.js`), 'utf8');

const linesOf = async (page: Page): Promise<string[]> =>
  (await page.locator('#root').innerText()).replaceAll(/[\u00AB\u00BB]/g, '').split('\n');

/** Times change in both, but not in the same moment. */
async function expectSame(translated: Page, plain: Page): Promise<void> {
  const differing = async () => {
    const [own, wanted] = await Promise.all([linesOf(translated), linesOf(plain)]);
    return [own, wanted].map((each, at) => each.filter((line) => ![wanted, own][at]?.includes(line)));
  };
  await expect.poll(differing, { timeout: 20_000, interval: 250 }).toEqual([[], []]);
}

describe.skipIf(browser.isAbsent)('the pages of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    ({ documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8')));
    endpoint = await startFailingEndpoint(t);
    const [row = missing()] = await t.sql('select max(delivery_id) as id from webhook_attempt where number = 15');
    const [subscription, delivery] = [numberOf(endpoint.subscription.id), String(row['id'])];
    paths = {
      home: '',
      subscription: `subscriptions/${subscription}`,
      pin: `subscriptions/${subscription}/pin`,
      deliveries: 'deliveries',
      delivery: `deliveries/${delivery}`,
      recover: 'recover',
      completeness: 'recover/completeness',
      verify: 'verify',
      attempt: `verify?delivery=${delivery}&attempt=15`,
    };
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
    for (const path of Object.values(paths)) {
      await visit(page, path);
      expect(await page.locator('.notice').count()).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
    }
    await page.getByLabel('Secret of the receiver').fill(endpoint.subscription.secret);
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('It was signed with the secret.').waitFor();
    await visit(page, paths['completeness'] ?? missing());
    await page
      .getByLabel('Log')
      .fill(endpoint.receiver.deliveries.map(({ headers }) => headers['webhook-id']).join('\n'));
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('region', { name: 'Result' }).waitFor();
  });

  test('name the wrong secret with code as code, and lead to the subscription whose secret it should be', async () => {
    const page = await open();
    await visit(page, paths['attempt'] ?? missing());
    await page.getByLabel('Secret of the receiver').fill(`whsec_${'canary'.repeat(7)}A=`);
    await page.getByRole('button', { name: 'Verify' }).click();
    const result = page.getByRole('status', { name: 'Result' });
    await result.getByText('SIGNATURE_MISMATCH').first().waitFor();
    expect(await result.innerText()).not.toContain('`');
    expect(await result.locator('code').allInnerTexts()).toContain('X-Service-Webhook-Subscription-Id');
    await result.getByRole('link', { name: 'View subscription' }).click();
    await page.getByRole('heading', { name: 'CRM of the north' }).waitFor();
  });

  test('show a name as it is written, also in the title of the tab', async () => {
    const name = 'می\u200Cخواهم 👨\u200D👩\u200D👧 ❤\uFE0F';
    const { id } = await subscribe(t.partner, {
      callbackUrl: endpoint.receiver.url,
      name,
      eventTypes: [{ type: 'referral.created' }],
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
    await t.partner.request(
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
    await visit(page, paths['subscription'] ?? missing());
    await page.getByRole('heading', { name: 'CRM of the north' }).waitFor();
    failures = 9;
    await page.reload();
    await page.getByRole('heading', { name: 'Something in this page failed' }).waitFor();
    expect(await page.getByRole('main').innerText()).toMatch(/TypeError: Cannot /);
    expect(await page.getByRole('main').innerText()).not.toMatch(/defect|updated/);
    expect(await problemsOf(page)).toEqual([]);
    await page.getByText('Copy details').click();
    await page.getByText('Copied').waitFor();
    const copied: string = await page.evaluate('navigator.clipboard.readText()');
    const [name, path, , ...places] = copied.split('\n');
    expect([name, path]).toEqual(['TypeError', '/partners/portal/…/subscriptions/…']);
    expect(places[0]).toMatch(/^subscription-[\w-]+\.js:\d+:\d+$/);
    expect(browser.takeProblems().filter((problem) => !problem.includes('Cannot '))).toEqual([]);
  });

  test('stay when something is dropped beside a zone', async () => {
    const page = await open();
    await visit(page, paths['completeness'] ?? missing());
    // Whether the page handles it, and shows that it does.
    const drop = (target: string, type: string, kind: 'file' | 'text') =>
      page
        .locator(target)
        .first()
        .evaluate(
          `(element, [eventType, isFile]) => {
            const dataTransfer = new DataTransfer();
            if (isFile) dataTransfer.items.add(new File(['{}'], 'receiver.log'));
            else dataTransfer.setData('text/plain', 'https://example.com/');
            const event = new DragEvent(eventType, { bubbles: true, cancelable: true, dataTransfer });
            element.dispatchEvent(event);
            return event.defaultPrevented;
          }`,
          [type, kind === 'file'] as const,
        );
    for (const type of ['dragover', 'drop'])
      for (const kind of ['file', 'text'] as const)
        expect({ type, kind, isRefused: await drop('h1', type, kind) }).toEqual({ type, kind, isRefused: true });
    expect(await drop('textarea', 'drop', 'text')).toBe(false);
    expect(await page.getByText('receiver.log').count()).toBe(0);
    expect(await drop('.field', 'drop', 'file')).toBe(true);
    await page.getByText('receiver.log, 2 bytes').waitFor();
  });

  test('have headings beside values, controls for fingers, and room for large text on a narrow screen', async () => {
    const page = await open({ viewport: { width: 320, height: 640 } });
    for (const [name, path] of Object.entries(paths)) {
      await visit(page, path);
      const found = await page.evaluate<{ wanted: string; header: number }>(`(() => {
        const textOf = (element) => (element.ariaLabel || element.innerText || element.name || element.tagName).slice(0, 40);
        const shown = [...document.querySelectorAll('a, button, summary, input, select, textarea')].filter((each) => each.checkVisibility());
        const cells = [...document.querySelectorAll('td')];
        return {
          low: shown.filter((each) => !(each.tagName === 'A' && each.closest('p, small')) && each.getBoundingClientRect().height < 24).map(textOf),
          small: shown.filter((each) => each.matches('input, select, textarea') && parseFloat(getComputedStyle(each).fontSize) < 16).map(textOf),
          headings: [...new Set(cells.map((each) => getComputedStyle(each, '::before').content))].join(),
          wanted: [...new Set(cells.map((each) => JSON.stringify(each.dataset.head)))].join(),
          header: Math.round(document.querySelector('header').getBoundingClientRect().height),
          indent: document.querySelector('header .link').getBoundingClientRect().left - document.querySelector('header b').getBoundingClientRect().left,
        };
      })()`);
      expect({ name, ...found, header: found.header <= 150 }).toEqual({
        name,
        low: [],
        small: [],
        headings: found.wanted,
        wanted: found.wanted,
        header: true,
        indent: 0,
      });
      await screenshot(page, `narrow-${name}`);
    }
    await visit(page, paths['deliveries'] ?? missing());
    await page
      .getByRole('table')
      .getByRole('row', { name: 'referral.created' })
      .first()
      .getByRole('cell')
      .first()
      .waitFor();
    expect(await page.getByRole('columnheader').allInnerTexts()).toContain('Status');
  });

  test('lose nothing when text is twice as large', async () => {
    for (const width of [320, 1280]) {
      const page = await open({ viewport: { width, height: 640 } });
      for (const [name, path] of Object.entries(paths)) {
        await visit(page, path);
        const found = await page.evaluate(`(() => {
          const all = [...document.querySelectorAll('body, body *')].map((each) => [each, parseFloat(getComputedStyle(each).fontSize)]);
          for (const [each, size] of all) each.style.fontSize = size * 2 + 'px';
          const nameOf = (each) => each.tagName + ' ' + (each.ariaLabel || each.className || each.innerText);
          const cut = all.map(([each]) => each).filter((each) => each.matches('input, select, button') && each.scrollHeight > each.clientHeight + 1);
          const wide = all.map(([each]) => each).filter((each) => each.getBoundingClientRect().right > innerWidth && getComputedStyle(each).clipPath === 'none');
          return { cut: cut.map(nameOf), wide: wide.map(nameOf) };
        })()`);
        expect({ width, name, ...Object(found) }).toEqual({ width, name, cut: [], wide: [] });
      }
    }
  });

  test('print everything that they show, black on white, and nothing to press', async () => {
    const page = await open({ colorScheme: 'dark' });
    const body = Array.from({ length: 3000 }, (_, line) => `line ${line}`).join('\n');
    await change(
      page,
      'Exchange',
      ({
        webhookDelivery: {
          attempts: [attempt],
        },
      }) => (attempt.exchange.responseBody = body),
    );
    await page.emulateMedia({ media: 'print' });
    for (const [name, path] of Object.entries({ ...paths, delivery: `${paths['delivery']}?side=response&view=text` })) {
      await visit(page, path);
      await page.pdf();
      const found = await page.evaluate(`(() => {
        const { color, backgroundColor } = getComputedStyle(document.body);
        const isShown = (each) => each.checkVisibility();
        return {
          color,
          backgroundColor,
          pressed: [...document.querySelectorAll('button, .button, nav')].filter(isShown).map((each) => each.innerText),
          cut: [...document.querySelectorAll('pre')].filter((each) => each.scrollHeight > each.clientHeight + 1).length,
        };
      })()`);
      const expected = { color: 'rgb(0, 0, 0)', backgroundColor: 'rgb(255, 255, 255)', pressed: [], cut: 0 };
      expect({ name, ...Object(found) }).toEqual({ name, ...expected });
      if (name !== 'delivery') continue;
      expect(await page.locator('.time > li').count()).toBe(2);
      expect(await page.locator('pre').last().innerText()).toBe(body);
    }
  });

  test('stay current while a browser translates them', async () => {
    const [plain, translated] = [await open(), await open({}, pageScript('translate'))];
    for (const path of Object.values(paths)) {
      for (const page of [plain, translated]) await visit(page, path);
      await expectSame(translated, plain);
      expect(await translated.locator('font').count()).toBeGreaterThan(10);
      expect(await translated.locator(':is(code, pre, .state) font').count()).toBe(0);
    }
    // Errors and results follow each other.
    for (const secret of ['', 'wrong', endpoint.subscription.secret]) {
      for (const page of [plain, translated]) {
        await page.getByLabel('Secret of the receiver').fill(secret);
        await page.getByRole('button', { name: 'Verify' }).click();
      }
      await expectSame(translated, plain);
    }
    // The receiver recovers: what was wrong disappears.
    const tabs: Page[][] = [];
    for (const page of [plain, translated]) await page.clock.install();
    for (const path of ['', paths['subscription'] ?? missing()]) {
      const both = [await plain.context().newPage(), await translated.context().newPage()];
      await both[1]?.addInitScript(pageScript('translate'));
      for (const page of both) {
        await page.goto(plain.url().replace(/verify.*/, ''));
        await visit(page, path);
      }
      tabs.push(both);
    }
    endpoint.receiver.onDelivery = acknowledge;
    const send = parse(
      'mutation ($id: ID!) { sendPendingWebhookDeliveries(input: { subscriptionId: $id }) { userErrors { message } } }',
    );
    await t.partner.request(send, { id: endpoint.subscription.id });
    await expect.poll(() => t.sql('select from webhook_pending_delivery')).toEqual([]);
    for (const both of tabs)
      for (const page of both) {
        await page.clock.fastForward(60_000);
        await page.getByText('Healthy', { exact: true }).first().waitFor();
        await page.clock.fastForward(60_000);
      }
    for (const [first = missing(), second = missing()] of tabs) await expectSame(second, first);
  });
});
