import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { credentialHeaders } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const browser = useBrowser('GraphiQL');

let harness: Harness;
let urls: Record<'supplier' | 'customer', string>;

/** Without the no-break spaces of the editor. */
async function untilShown(page: Page, selector: string, pattern: RegExp): Promise<void> {
  const text = `(document.querySelector('${selector}')?.textContent ?? '').replaceAll('\u00A0', ' ')`;
  await page.waitForFunction(`${String(pattern)}.test(${text})`);
}

function addressOf(name: 'supplier' | 'customer'): string {
  return `${urls[name]}/${name}/graphql`;
}

interface Opened {
  page: Page;
  /** Those of the responses, until it is cleared. */
  versions: Set<string | undefined>;
  /** Without line numbers. */
  text(part: 'query' | 'response'): Promise<string>;
  tabs(): Promise<number>;
  choose(version: string): Promise<void>;
}

async function open(address: string): Promise<Opened> {
  const { page } = await browser.open(address, { viewport: { width: 1400, height: 800 } });
  const versions = new Set<string | undefined>();
  page.on('response', (response) => {
    if (response.request().method() === 'POST') versions.add(response.headers()['x-service-schema-version']);
  });
  await page.goto(address);
  await untilShown(page, '#cost', /^Cost: /);
  return {
    page,
    versions,
    async text(part) {
      const selector = part === 'query' ? '.graphiql-query-editor .view-lines' : '.graphiql-response .view-lines';
      // The editor positions its lines, and has no-break spaces.
      const lines = await page.$$eval(`${selector} .view-line`, (found) =>
        found
          .map((line) => ({ top: line.getBoundingClientRect().top, text: line.textContent ?? '' }))
          .toSorted((x, y) => x.top - y.top)
          .map(({ text }) => text.replaceAll('\u00A0', ' ')),
      );
      return lines.join('\n');
    },
    tabs: () => page.$$eval('[role="tab"]', (tabs) => tabs.length),
    async choose(version) {
      await Promise.all([page.waitForEvent('load'), page.selectOption('label select', version)]);
      await untilShown(page, '#cost', /^Cost: /);
      await page.waitForSelector('.graphiql-query-editor .view-line');
    },
  };
}

/** Opens the page to which / of the interface leads a browser, and runs its example. */
async function openExample(name: 'customer' | 'supplier'): Promise<Opened> {
  const opened = await open(urls[name]);
  const { page } = opened;
  expect(page.url()).toBe(addressOf(name));
  expect(opened.versions).toEqual(new Set(['2026-11-01']));
  expect(await opened.text('query')).toContain(`${name} {\n    id\n    name`);
  await page.click('.graphiql-execute-button');
  await untilShown(page, '.graphiql-response', /"name":/);
  await untilShown(page, '#cost', /^Cost: requested \d+, charged \d+; \d+ points are left$/);
  return opened;
}

describe.skipIf(browser.isAbsent)('GraphiQL in a browser', () => {
  beforeAll(async () => {
    harness = await createHarness();
    const { accounts, startApi } = harness;
    const start = async (name: 'supplier' | 'customer'): Promise<string> => {
      const headers = credentialHeaders(accounts[name].credential);
      return (await startApi(name, { NODE_ENV: 'development', GRAPHIQL_HEADERS: headers })).url;
    };
    urls = { supplier: await start('supplier'), customer: await start('customer') };
  });

  afterAll(() => harness.close());

  test('runs its example; keeps a query in its tab when the version changes, and changes the example', async () => {
    const opened = await openExample('supplier');
    const { page, versions } = opened;
    expect(await opened.text('query')).not.toContain('nodes');
    versions.clear();
    await opened.choose('2027-02-01');
    expect(await opened.text('query')).toContain('nodes');
    expect(versions).toEqual(new Set(['2027-02-01']));
    expect(await opened.tabs()).toBe(1);

    await page.goto(`${addressOf('supplier')}?version=2027-02-01&query=${encodeURIComponent('{ supplier { name } }')}`);
    await untilShown(page, '.graphiql-query-editor', /\{ supplier \{ name \} \}/);
    // The browser stores the tabs a moment later.
    await page.waitForFunction(`localStorage.getItem('graphiql:tabState').includes('{ supplier { name } }')`);
    const before = await opened.tabs();
    versions.clear();
    await opened.choose('');
    expect(await opened.text('query')).toBe('{ supplier { name } }');
    expect(await opened.tabs()).toBe(before);
    expect(versions).toEqual(new Set(['2026-11-01']));
    await page.reload();
    await untilShown(page, '.graphiql-query-editor', /\{ supplier \{ name \} \}/);
    expect(await opened.tabs()).toBe(before);
  });

  test('runs its example with the credentials of the server, not with what the browser stored of an earlier one', async () => {
    const opened = await openExample('customer');
    const { page } = opened;
    const key = credentialHeaders(harness.accounts.customer.credential)['X-Service-API-Key'];
    // The browser stores the tabs a moment later.
    await page.waitForFunction(`JSON.stringify(localStorage).includes(${JSON.stringify(key)})`);
    await page.addInitScript(`for (const [name, value] of Object.entries(localStorage))
      localStorage.setItem(name, value.replaceAll(${JSON.stringify(key)}, 'of-an-earlier-server'));`);
    const sent = new Set<string | undefined>();
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.add(request.headers()['x-service-api-key']);
    });
    await page.reload();
    await untilShown(page, '#cost', /^Cost: /);
    await page.click('.graphiql-execute-button');
    await untilShown(page, '.graphiql-response', /"name":/);
    expect(sent).toEqual(new Set([key]));
    expect(await opened.text('query')).toContain('customer {');
  });

  test('shows the locations of errors in the query as it is written, and no bar over the response', async () => {
    const query = '{\n  customer {\n    # a comment\n    nothing\n  }\n}\n';
    const opened = await open(`${addressOf('customer')}?query=${encodeURIComponent(query)}`);
    const { page } = opened;
    for (const [width, height, shown] of [
      [1400, 800, /"locations": \[\s*\{\s*"line": 4,\s*"column": 5/],
      // The editor has the lines that it shows.
      [320, 640, /"message": /],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.click('.graphiql-execute-button');
      await untilShown(page, '.graphiql-response', shown);
      const [bar, root] = await Promise.all(
        ['#bar', '#root'].map((selector) =>
          page.$eval(selector, (element) => {
            const { top, bottom, left, right } = element.getBoundingClientRect();
            return { top, bottom, left, right };
          }),
        ),
      );
      expect(root?.bottom).toBeLessThanOrEqual(bar?.top ?? 0);
      expect(bar).toMatchObject({ left: 0, right: width, bottom: height });
    }
  });
});
