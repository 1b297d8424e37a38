import { readFileSync } from 'node:fs';
import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';
import { type OpenedPage, type Page, type Route, useBrowser } from '@deedwire/testing/browser';
import { signWebhook } from '@deedwire/webhook-signing';
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
  startFailingEndpoint,
  startPortalSystem,
  visit,
} from '../support/portal.ts';

// Each page in each state. Responses that no server gives on request are changed on their way.

const browser = useBrowser('The portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let documents: Record<string, string>;
let opened: OpenedPage;
let page: Page;

/** What names the subscription or a delivery is added to a path that ends with a slash or a question mark. */
const paths = [
  '',
  'subscriptions/',
  'pin',
  'deliveries',
  'deliveries/',
  'recover',
  'recover/completeness',
  'verify?',
] as const;
type Path = (typeof paths)[number];

// oxlint-disable-next-line typescript/no-explicit-any -- any JSON
type Json = any;

beforeAll(async () => {
  if (browser.isAbsent) return;
  t = await startPortalSystem();
  ({ documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8')));
  endpoint = await startFailingEndpoint(t);
});
afterAll(async () => {
  if (browser.isAbsent) return;
  await endpoint.receiver.close();
  await t.close();
});

async function open(options: object = {}): Promise<void> {
  opened = await browser.open(t.origin, { viewport: { width: 1280, height: 820 }, ...options });
  ({ page } = opened);
  await follow(page, await createPortalLink(t.customer));
}

async function addressOf(path: Path): Promise<string> {
  const subscription = `subscriptions/${endpoint.subscription.id.split('/').at(-1)}`;
  if (path === 'subscriptions/') return subscription;
  if (path === 'pin') return `${subscription}/pin`;
  if (path !== 'deliveries/' && path !== 'verify?') return path;
  const [row = missing()] = await t.sql('select max(delivery_id) as id from webhook_attempt where number = 15');
  return path === 'verify?' ? `${path}delivery=${String(row['id'])}&attempt=15` : path + String(row['id']);
}

/** Handles each request with an operation. */
async function answer(handle: (route: Route, operation: string) => Promise<void>): Promise<void> {
  await page.route('**/graphql', (route) => handle(route, operationOf(route.request(), documents) ?? ''));
}

/** Changes the data of each response. */
function change(edit: (data: Json, operation: string) => Json): Promise<void> {
  return answer(async (route, operation) => {
    const response = await route.fetch();
    const { data } = await response.json();
    await route.fulfill({ response, json: { data: edit(data, operation) } });
  });
}

function fail(status: number, code: string, headers: Record<string, string> = {}): Promise<void> {
  return answer((route) => route.fulfill(failure(status, code, headers)));
}

const failure = (status: number, code: string, headers = {}) => ({
  status,
  headers,
  json: { errors: [{ message: `The message of ${code}.`, extensions: { code, requestId: 'request-7' } }] },
});

const place = parse('mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }');
const updateTypes = parse(`mutation ($input: UpdateWebhookSubscriptionInput!) {
  updateWebhookSubscription(input: $input) { userErrors { message } } }`);

const mainText = (): Promise<string> => page.getByRole('main').innerText();

const files: Readonly<Record<string, string>> = {
  'subscriptions/': 'subscription',
  'deliveries/': 'delivery',
  'recover/completeness': 'completeness',
  'verify?': 'verify',
};

/** The fields whose texts others choose. */
const foreignKeys =
  'name callbackUrl advice message payload value responseBody remoteAddress description actor returnUrl type version';

/** Replaces each text whose key is one of these. */
function replace(value: Json, keys: ReadonlySet<string>, text: string, key = ''): Json {
  if (typeof value === 'string') return keys.has(key) ? text : value;
  if (Array.isArray(value)) return value.map((each) => replace(each, keys, text, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replace(each, keys, text, name)]));
}

/** When the page is loaded from now on. */
function timesOfLoads(): number[] {
  const times: number[] = [performance.now()];
  page.on('request', (request) => {
    if (request.isNavigationRequest()) times.push(performance.now());
  });
  return times;
}

/** A page that a reload repairs is reloaded once. Another one is reloaded again and again, after twice as long each time. */
async function checkLoads(times: readonly number[], failures: number): Promise<void> {
  const isRepaired = failures === 1;
  await expect.poll(() => times.length).toBe(isRepaired ? 2 : 4);
  const waits = times.slice(1).map((atMs, index) => atMs - (times[index] ?? atMs));
  // Some of the first wait has passed before it is measured.
  for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThan(500 * 2 ** index);
  await (
    isRepaired ? page.locator('nav') : page.getByRole('heading', { name: 'This page could not be shown' })
  ).waitFor();
  // What the browser says about the last load arrives before.
  await page.goto('about:blank');
}

describe.skipIf(browser.isAbsent).each(paths)('the page "%s"', (path) => {
  beforeEach(() => open());

  test('says that it is loading', async () => {
    await answer(() => new Promise(() => {}));
    await page.goto(`${new URL(page.url()).pathname}${await addressOf(path)}`);
    await page.getByRole('status').filter({ hasText: 'Loading…' }).first().waitFor();
    expect(await problemsOf(page)).toEqual([]);
  });

  test('says that there is nothing', async () => {
    await change((data) =>
      Object.fromEntries(
        Object.entries(data).map(([name, value]: [string, Json]) => [
          name,
          Array.isArray(value)
            ? []
            : value && 'nodes' in value
              ? { ...value, nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }
              : null,
        ]),
      ),
    );
    await page.goto(`${new URL(page.url()).pathname}${await addressOf(path)}`);
    await expect
      .poll(mainText)
      .toMatch(/There is no subscription|No such subscription|No deliveries yet|No such delivery|is not kept/);
    expect(await problemsOf(page)).toEqual([]);
  });

  test.each([
    [429, 'RATE_LIMITED', { 'Retry-After': '60' }, 'This page tries again in '],
    [500, 'INTERNAL_SERVER_ERROR', {}, 'request id request-7'],
    [503, 'SERVICE_UNAVAILABLE', {}, 'request id request-7'],
  ])('shows a %d, and tries again', async (status, code, headers, text) => {
    await fail(status, code, headers);
    await page.goto(`${new URL(page.url()).pathname}${await addressOf(path)}`);
    const alert = page.getByRole('alert').first();
    await expect.poll(() => alert.innerText()).toContain(`The message of ${code}.`);
    expect(await alert.innerText()).toContain(text);
    await expect.poll(() => page.locator('.loading').count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(1);
    expect(await problemsOf(page)).toEqual([]);
    await page.unroute('**/graphql');
    const again = page.getByRole('button', { name: 'Try again' });
    await expect
      .poll(async () => {
        // A query that another part of the page has sent again is answered meanwhile.
        if ((await again.count()) > 0) await again.first().click({ timeout: 1_000 }).catch(String);
        return page.getByRole('alert').count();
      })
      .toBe(0);
    expect(await mainText()).not.toContain('request-7');
  });

  test('says that the session has ended', async () => {
    const address = await addressOf(path);
    await visit(page, address);
    await t.sql(`update portal_session set expires_at = now() - interval '1 second' where expires_at > now()`);
    await page.reload();
    await page.getByRole('heading', { name: 'There is no session' }).waitFor();
    expect(await problemsOf(page)).toEqual([]);
  });

  test('shows values of enums that it does not know', async () => {
    const keys = new Set(['state', 'status', 'reason', 'error', 'pausedReason', 'waitsFor']);
    await change((data) => replace(data, keys, 'SOUND_ASLEEP'));
    await visit(page, await addressOf(path));
    // There is no replay yet, and what a log or a secret is compared with has no such value.
    const shown = { recover: 'None yet.', 'recover/completeness': 'Compare', 'verify?': 'What was sent' };
    expect(await mainText()).toContain(path in shown ? Reflect.get(shown, path) : 'Sound asleep');
    expect(await problemsOf(page)).toEqual([]);
  });

  test('shows hostile texts as texts', async () => {
    const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u202Ejavascript:alert(1)\u0000`;
    const keys = new Set(foreignKeys.split(' '));
    await change((data) => replace(data, keys, hostile));
    await page.route('**/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: replace(await response.json(), keys, hostile) });
    });
    await visit(page, await addressOf(path));
    await visit(page, `${await addressOf(path)}${path.endsWith('?') ? '&' : '?'}side=response`);
    const body = await page.locator('body').innerText();
    expect(body).toContain('<img src=x onerror="window.hacked=1">');
    expect(body).toContain('U+202E');
    expect(body).toContain('U+0000');
    const found = `[...document.querySelectorAll('#root :is(img, script, iframe), a[href^="javascript:" i]')].length + (window.hacked ?? 0)`;
    expect(await page.evaluate(found)).toBe(0);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
  });

  test('is reached by the keyboard alone', async () => {
    await visit(page, await addressOf(path));
    const controls = `[...document.querySelectorAll('a[href], button, input, select, summary, textarea')].filter((each) => each.checkVisibility())`;
    const count: number = await page.evaluate(`${controls}.length`);
    expect(count).toBeGreaterThan(5);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    const reached = new Set<number>([await page.evaluate(`${controls}.indexOf(document.activeElement)`)]);
    // A field with a date has several parts.
    for (let presses = 0; presses < count + 30; presses += 1) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(`${controls}.indexOf(document.activeElement)`));
    }
    reached.delete(-1);
    expect(reached.size).toBe(count);
  });

  test('can be used with forced colors', async () => {
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    await visit(page, await addressOf(path));
    expect(await problemsOf(page)).toEqual([]);
  });

  // The first page has no separate file.
  test.skipIf(path === '').each([
    ['of the release that the server had before', 1],
    ['that no server has', 9],
  ])('reloads later, and less and less often, for a file %s', async (_, failures) => {
    const home = new URL(page.url()).pathname;
    await visit(page, '');
    let left = failures;
    const file = `${files[path] ?? path}-`;
    await page.route(`**/assets/${file}*.js`, (route) =>
      (left -= 1) >= 0 ? route.fulfill({ status: 404, body: '' }) : route.continue(),
    );
    const loads = timesOfLoads();
    await page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(home + (await addressOf(path)))}), dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.getByRole('heading', { level: 1, name: 'This page could not be shown' }).waitFor();
    await checkLoads(loads, failures);
    // The file that is missing, and what the browser says about it.
    expect(browser.takeProblems().filter((problem) => !/404|dynamically imported/.test(problem))).toEqual([]);
  });
});

/** The number of a record of a millisecond of 2026. */
const numberOf = (ms: number): string => String((BigInt(ms) << 22n) + 1n);

const eventAt = (sequence: number) => ({
  sequence,
  node: {
    eventId: `gid://service/WebhookEvent/${numberOf(sequence)}`,
    deliveryId: `gid://service/WebhookDelivery/${numberOf(sequence)}`,
    type: 'order.placed',
    isTest: false,
  },
});

const pageOf = (sequences: number[], hasNextPage: boolean, firstKeptSequence = 1) => ({
  webhookEvents: {
    edges: sequences.map(eventAt),
    pageInfo: { hasNextPage, endCursor: `after ${sequences.at(-1)}` },
    lastSequence: 4,
    firstKeptSequence,
    numberedUntil: new Date().toISOString(),
  },
});

/** Compares with the ids of these sequences. Each request for events gets the next answer. */
async function compare(sequences: number[], answers: Parameters<Route['fulfill']>[0][]): Promise<string[]> {
  const cursors: string[] = [];
  await answer(async (route, operation) => {
    if (operation !== 'Events') return route.continue();
    cursors.push(route.request().postDataJSON().variables.after);
    await route.fulfill(answers.shift());
  });
  await visit(page, 'recover/completeness');
  await page.getByLabel('Log').fill(sequences.map((each) => eventAt(each).node.deliveryId).join('\n'));
  await page.getByLabel('To (').fill('2026-01-02T00:00:00');
  await page.getByRole('button', { name: 'Compare' }).click();
  return cursors;
}

const list = () => page.getByRole('region', { name: 'List of deliveries' });
const rows = () => list().locator('tbody tr').count();
const find = async (where: Page, text: string) => {
  await where.getByLabel('Find').fill(text);
  await where.getByLabel('Find').press('Enter');
};
const gid = (type: string) => endpoint.subscription.id.replace(/WebhookSubscription.*/, `${type}/1`);

const narrow = { width: 320, height: 640 };

/** In wide and narrow windows. */
async function checkWidths(): Promise<void> {
  expect(await problemsOf(page)).toEqual([]);
  await page.setViewportSize(narrow);
  expect(await problemsOf(page)).toEqual([]);
}

describe.skipIf(browser.isAbsent)('the list of deliveries', () => {
  beforeEach(async () => {
    await open({ timezoneId: 'UTC' });
    await page.clock.install();
  });

  test('offers newer rows, and says when it was read by somebody who left it for ten minutes', async () => {
    await visit(page, 'deliveries');
    const before = await rows();
    await t.customer.request(place, {});
    await page.clock.fastForward(20_000);
    await list().getByRole('button', { name: 'Show 1 new' }).waitFor();
    expect(await rows()).toBe(before);
    await checkWidths();
    const read = await list()
      .getByText(/^Updated /)
      .innerText();
    await page.clock.fastForward(601_000);
    let sent = 0;
    page.on('request', () => (sent += 1));
    const last = await list()
      .getByText(/^Updated /)
      .innerText();
    await page.clock.fastForward(60_000);
    expect([
      sent,
      await list()
        .getByText(/^Updated /)
        .innerText(),
    ]).toEqual([0, last]);
    expect(await problemsOf(page)).toEqual([]);
    await list().getByRole('button', { name: 'Refresh' }).click();
    await expect.poll(rows).toBe(before + 1);
    expect(
      await list()
        .getByText(/^Updated /)
        .innerText(),
    ).not.toBe(read);
    expect(await list().getByRole('button', { name: /^Show/ }).count()).toBe(0);
  });

  test('keeps the event in what it reads again, in Older and in Newest, including of short pages', async () => {
    const [delivery = missing()] = endpoint.receiver.deliveries;
    const { id: event } = JSON.parse(String(delivery.body));
    const sent: Json[] = [];
    let isEmpty = false;
    await answer(async (route, operation) => {
      if (operation !== 'Deliveries') return route.continue();
      const request = route.request().postDataJSON();
      sent.push(request.variables);
      const first = { ...request, variables: { ...request.variables, after: null } };
      const response = await route.fetch({ postData: JSON.stringify(first) });
      const { data } = await response.json();
      data.webhookDeliveries.pageInfo = { hasNextPage: true, endCursor: 'c' };
      if (isEmpty) data.webhookDeliveries.nodes = [];
      return route.fulfill({ response, json: { data } });
    });
    await visit(page, `deliveries?${new URLSearchParams({ event })}`);
    await list().getByText('The search stopped after many deliveries. Older ones can match.').waitFor();
    expect(await rows()).toBe(1);
    expect(await mainText()).not.toContain('Several subscriptions receive this event.');
    const first = sent.length;
    await page.clock.fastForward(20_000);
    await expect.poll(() => sent.length).toBeGreaterThanOrEqual(first + 2);
    await checkWidths();
    isEmpty = true;
    await list().getByRole('link', { name: 'Older' }).click();
    await expect.poll(rows).toBe(0);
    await list().getByText('The search stopped after many deliveries.').waitFor();
    expect(await mainText()).not.toContain('No deliveries match.');
    await list().getByRole('link', { name: 'Newest' }).click();
    await page.waitForURL(/deliveries\?event=[^&]*$/);
    expect(sent.map(({ eventId }) => eventId)).toEqual(sent.map(() => event));
    expect(sent.map(({ after }) => after)).toContain('c');
    await page.getByRole('link', { name: 'Event ' }).press('Enter');
    await expect.poll(() => sent.at(-1).eventId).toBeNull();
    expect(await page.evaluate('document.activeElement === document.body')).toBe(false);
    // Short and empty pages prove neither that there is one delivery nor that there is none.
    await page.getByLabel('Find').fill(event);
    await page.getByLabel('Find').press('Enter');
    await page.waitForURL(/deliveries\?event=[^&]*$/);
  });
});

describe.skipIf(browser.isAbsent)('Find and ranges', () => {
  test('what Find says', async () => {
    await open({ colorScheme: 'dark' });
    const status = page.getByRole('search').getByRole('status');
    for (const [text, message] of [
      ['', 'Paste a delivery, event or record id'],
      ['Nobody', 'Nothing matches.'],
      [gid('WebhookEvent'), 'There is no delivery of this event'],
      [gid('Order'), 'There is no delivery about this record'],
      [gid('WebhookReplay'), 'There is no resend with this id'],
      [page.url().replace(/\d+\/$/, '1/'), 'This page is of another account'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 820 });
      await find(page, text);
      await expect.poll(() => status.innerText()).toContain(message);
      await checkWidths();
    }
    await fail(429, 'RATE_LIMITED', { 'Retry-After': '60' });
    await find(page, 'Nobody');
    const alert = page.getByRole('search').getByRole('alert');
    await expect.poll(() => alert.innerText()).toMatch(/The message of RATE_LIMITED\. Try again in .*request-7/s);
    await checkWidths();
    await page.unroute('**/graphql');
    await find(page, 'Nobody');
    await expect.poll(() => status.innerText()).toContain('Nothing matches.');
    expect(await alert.count()).toBe(0);
  });

  test('Find in two tabs', async () => {
    await open();
    const second = await page.context().newPage();
    await second.goto(page.url());
    const [delivery = missing()] = endpoint.receiver.deliveries;
    const number = String(delivery.headers['webhook-id']).split('/').at(-1) ?? missing();
    await second.getByLabel('Find').waitFor();
    await Promise.all([find(page, 'Nobody'), find(second, number)]);
    await second.waitForURL(new RegExp(`deliveries/${number}$`));
    await expect.poll(mainText).toContain('Nothing matches.');
  });

  test.each([
    ['deliveries', 'Filter'],
    ['recover', 'Preview'],
    ['recover/completeness', 'Compare'],
  ])('a range that ends before it starts on "%s"', async (path, button) => {
    await open();
    await visit(page, path);
    await page.getByLabel('From (').fill('2026-11-02T10:00:00');
    await page.getByLabel('To (').fill('2026-11-02T10:00:00');
    await page.getByRole('button', { name: button }).click();
    await page.locator('label', { hasText: 'From' }).getByText('From must be before To.').waitFor();
    expect(new URL(page.url()).search).toBe('');
    await checkWidths();
  });

  test.each([{}, { since: '2026-11-02T10:00:00Z', until: '2026-11-02T09:00:00Z' }, { since: '2099-01-01T00:00:00Z' }])(
    'a link that resends %j',
    async (range) => {
      await open();
      const parameters = { what: 'all', ...range, confirmation: crypto.randomUUID(), counted: '2098-01-01T00:00:00Z' };
      await visit(page, `recover?${new URLSearchParams(parameters)}`);
      const refusal = await page.getByRole('main').getByRole('alert').innerText();
      expect(refusal).toContain('From must be before To');
      expect(refusal).not.toMatch(/`|since|until/);
      await checkWidths();
    },
  );

  test('an address with anything in its parameters shows its page', async () => {
    await open();
    const [row = missing()] = await t.sql('select max(delivery_id) as id from webhook_attempt where number = 15');
    const delivery = String(row['id']);
    const range = 'subscription type status record event since until after what counted confirmation';
    const addresses = Object.entries({
      deliveries: range,
      recover: range,
      'recover/completeness': range,
      [`deliveries/${delivery}`]: 'attempt before side view',
      verify: 'delivery attempt',
      [`verify?delivery=${delivery}`]: 'attempt',
    });
    for (const [path, names] of addresses) {
      await visit(page, path);
      const parameters = names.split(' ');
      const values = ['foo', '-1', '1e99', '%00%ED%A0%80', '2026-02-30T00:00:00Z'];
      const queries = [
        ...parameters.map((name) => `${name}=foo`),
        ...values.map((value) => parameters.map((name) => `${name}=${value}`).join('&')),
      ];
      for (const query of queries) {
        const address = JSON.stringify(`?${path.split('?')[1] ?? ''}&${query}`);
        await page.evaluate(`history.pushState(null, '', ${address}), dispatchEvent(new PopStateEvent('popstate'))`);
        await expect.poll(() => page.locator('.loading').count()).toBe(0);
        expect(await page.getByRole('heading', { level: 1 }).innerText(), `${path} ${query}`).not.toMatch(/failed/);
      }
    }
  });

  test.each([
    ['America/New_York', '2026-11-01T05:30:00.123Z', '2026-11-01T06:30:00.456Z'],
    ['Australia/Lord_Howe', '2026-04-04T14:45:00.123Z', '2026-04-04T15:15:00.456Z'],
    ['UTC', '2026-11-01T06:30:00.123Z', '2026-11-01T06:30:00.124Z'],
  ])('times that were not changed keep their values in %s', async (timezoneId, since, until) => {
    await open({ timezoneId });
    for (const [path, button] of [
      ['deliveries', 'Filter'],
      ['recover', 'Preview'],
      ['recover/completeness', 'Compare'],
    ] as const) {
      await visit(page, `${path}?${new URLSearchParams({ since, until })}`);
      await page.getByLabel('Event type').selectOption('order.placed');
      await page.waitForURL(/type=order.placed/);
      await page.getByRole('button', { name: button }).click();
      const { searchParams } = new URL(page.url());
      expect([path, searchParams.get('since'), searchParams.get('until')]).toEqual([path, since, until]);
    }
  });
});

describe.skipIf(browser.isAbsent)('the pages', () => {
  beforeEach(() => open());

  test.each([
    ['of an older release, once', '**/portal/*/', 1],
    ['of an older release, always', '**/portal/*/', 9],
    ['of a newer release, once', '**/assets/index-*.js', 1],
    ['of a newer release, always', '**/assets/index-*.js', 9],
  ])('reload later, and less and less often, with an index %s', async (_, pattern, failures) => {
    let left = failures;
    await page.route(pattern, async (route) => {
      if ((left -= 1) < 0) return route.continue();
      // What the server does not have: the files that an older index names, or those of a newer one.
      if (pattern.includes('assets')) return route.fulfill({ status: 404, body: '' });
      const response = await route.fetch();
      return route.fulfill({ response, body: (await response.text()).replaceAll('/index-', '/index-old-') });
    });
    await page.reload();
    const loads = timesOfLoads();
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await checkLoads(loads, failures);
    expect(browser.takeProblems().filter((problem) => !/^404|MIME/.test(problem))).toEqual([]);
  });

  test('over plain HTTP say what an operator has to set', async () => {
    const origin = 'http://portal.example';
    const { page: plain } = await browser.open(origin);
    await plain.route(`${origin}/**`, async (route) => {
      const url = route.request().url().replace(origin, t.origin);
      await route.fulfill({ response: await route.fetch({ url }) });
    });
    await plain.goto('/customer/portal/1/');
    await plain.getByRole('heading', { name: 'The portal needs HTTPS' }).waitFor();
    expect(await plain.getByRole('main').innerText()).toContain('PORTAL_ORIGIN');
    expect(browser.takeProblems()).toEqual([expect.stringContaining("the URL's origin was untrustworthy")]);
  });

  test('a delivery without a payload says so, and bytes that are no text are shown as hex', async () => {
    await change((data, operation) => {
      if (operation === 'Payload') return { webhookDelivery: { payload: null } };
      if (operation !== 'Exchange') return data;
      const [attempt] = data.webhookDelivery.attempts;
      Object.assign(attempt.exchange, { responseBody: null, responseBodyBase64: 'gP8AQQ==', responseBytes: 4 });
      return data;
    });
    const address = await addressOf('deliveries/');
    await visit(page, `${address}?side=request`);
    await expect.poll(mainText).toContain('No payload: ');
    await visit(page, `${address}?side=response`);
    await expect.poll(mainText).toContain('80 ff 00 41');
    expect(await mainText()).toContain('Not UTF-8.');
    expect(await problemsOf(page)).toEqual([]);
  });

  test('a comparison shows texts of others as texts, and says why there is none', async () => {
    const hostile = `<img src=x onerror="window.hacked=1">\u202E`;
    const compared = {
      payload: JSON.stringify({ data: { [hostile]: 1 } }),
      preview: JSON.stringify({ data: hostile }),
    };
    let found: object = compared;
    const event = { id: 'e', type: 'order.placed', version: '2026-11-01', timestamp: new Date().toISOString() };
    await change((data, operation) => {
      if (operation === 'Compare') return { webhookDelivery: found };
      if (operation !== 'Deliveries') return data;
      const [node] = data.webhookDeliveries.nodes;
      const nodes = [{ ...node, id: 'gid://service/WebhookDelivery/7', event, isTest: false, attempts: [] }];
      return { webhookDeliveries: { nodes, pageInfo: { hasNextPage: true, endCursor: 'c' } } };
    });
    const address = await addressOf('pin');
    await page.setViewportSize({ width: 320, height: 640 });
    await visit(page, address);
    expect(await mainText()).toContain('<img src=x onerror="window.hacked=1">');
    expect(await mainText()).toContain('U+202E');
    expect(await mainText()).toContain('The search stopped after many deliveries. Older events are not shown.');
    expect(await page.evaluate('window.hacked')).toBeUndefined();
    expect(await problemsOf(page)).toEqual([]);
    for (const [part, text] of [
      [{ preview: null }, 'Deedwire cannot send this event as 2027-02-01'],
      [{ payload: null }, 'Deedwire sent no payload of this event'],
      [{ payload: 'no JSON', preview: 'x'.repeat(30_000) }, 'Show more'],
    ] as const) {
      found = { ...compared, ...part };
      await visit(page, address);
      await expect.poll(mainText).toContain(text);
      expect(await problemsOf(page)).toEqual([]);
    }
  });

  test('a line of 256 kB is shown in parts', async () => {
    await change((data) => replace(data, new Set(['responseBody']), '<b>'.repeat(87_382)));
    await visit(page, `${await addressOf('deliveries/')}?side=response&view=text`);
    const more = page.getByRole('button', { name: /^Show more: 20,000 of 262,146 characters$/ });
    await more.waitFor();
    expect((await mainText()).length).toBeLessThan(30_000);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
  });

  test('a page of deliveries that the server ended early leads to the next one', async () => {
    await change((data, operation) => {
      if (operation === 'Deliveries')
        Object.assign(data.webhookDeliveries.pageInfo, { hasNextPage: true, endCursor: 'c' });
      return data;
    });
    await visit(page, 'deliveries');
    expect(await mainText()).toContain('The search stopped after many deliveries. Older ones can match.');
    expect(await page.getByRole('link', { name: 'Older' }).getAttribute('href')).toContain('after=c');
  });

  describe('a comparison with a log', () => {
    test('goes on where it was interrupted, and proves nothing before', async () => {
      const cursors = await compare(
        [1, 2, 3],
        [
          { json: { data: pageOf([1, 2], true) } },
          failure(503, 'SERVICE_UNAVAILABLE'),
          failure(429, 'RATE_LIMITED', { 'Retry-After': '2' }),
          { json: { data: pageOf([3, 4], false) } },
        ],
      );
      await page.getByText('Not finished: this is no proof.').waitFor();
      expect(await mainText()).toContain('Compared 2 events. Read up to sequence 2 of 4.');
      expect(await problemsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('This page tries again in').waitFor();
      await page.getByText('1 missing, 0 altered, 0 unexpected').waitFor();
      expect(cursors).toEqual([null, 'after 2', 'after 2', 'after 2']);
    });

    test('asks for a file again that was written since it was chosen', async () => {
      const log = join(await mkdtemp(join(tmpdir(), 'portal-')), 'receiver.log');
      await writeFile(log, eventAt(1).node.deliveryId);
      await visit(page, 'recover/completeness');
      await page.getByLabel('File').setInputFiles(log);
      await appendFile(log, `\n${eventAt(2).node.deliveryId}`);
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByText('The file has changed, or cannot be read. Choose it again.').waitFor();
      expect(await problemsOf(page)).toEqual([]);
    });

    test('names what is no longer kept', async () => {
      await compare([3, 4], [{ json: { data: pageOf([3, 4], false, 3) } }]);
      await page.getByText('0 missing, 0 altered, 0 unexpected. This is no proof:').waitFor();
      expect(await mainText()).toContain('Events before sequence 3 are no longer kept, so they were not compared.');
    });

    test('ends when the next events are no longer kept', async () => {
      await compare([1], [{ json: { data: pageOf([1], true) } }, failure(400, 'CURSOR_EXPIRED')]);
      await page.getByText('The next events are no longer kept.').waitFor();
      expect(await mainText()).toContain('Not finished: this is no proof.');
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    });

    test('sends again all that can be sent, and names what is refused', async () => {
      await compare([4], [{ json: { data: pageOf([1, 2, 3, 4], false) } }]);
      const codes = ['DELIVERY_EXPIRED', 'RETRY_RATE_LIMITED'];
      const ids: string[] = [];
      await answer(async (route, operation) => {
        if (operation !== 'Retry') return route.fallback();
        ids.push(route.request().postDataJSON().variables.id);
        const userErrors = codes.splice(0, 1).map((code) => ({ code, message: `The message of ${code}.` }));
        await route.fulfill({ json: { data: { retryWebhookDelivery: { userErrors } } } });
      });
      const label = 'Resend 3 deliveries';
      await page.getByRole('button', { name: label }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: label }).click();
      await dialog.getByText('60 deliveries were sent again within the last minute.').waitFor();
      await dialog.getByRole('button', { name: label }).click();
      await dialog.getByText('2 of 3 deliveries queued.').waitFor();
      expect(await dialog.innerText()).toContain('Sequence 1: It is no longer kept, so there is nothing to send.');
      expect(ids).toEqual([1, 2, 2, 3].map((each) => eventAt(each).node.deliveryId));
      expect(await problemsOf(page)).toEqual([]);
    });

    test('offers a replay of the range for more than 60 deliveries', async () => {
      await compare(
        [900],
        [
          {
            json: {
              data: pageOf(
                Array.from({ length: 61 }, (_, index) => index + 1),
                false,
              ),
            },
          },
        ],
      );
      await expect.poll(mainText).toContain('receiver.reconcile');
      await page.getByRole('link', { name: 'Resend the whole range' }).click();
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.waitForURL(/confirmation=/);
      const { searchParams } = new URL(page.url());
      const range = ['what', 'since', 'until'].map((name) => searchParams.get(name));
      expect(range).toEqual(['all', '2026-01-01T00:00:00.001Z', '2026-01-01T00:00:00.062Z']);
    });
  });

  test('a pin that moves keeps what others have changed since the page was loaded', async () => {
    const { id } = endpoint.subscription;
    const both = [{ type: 'api_key.created' }, { type: 'order.placed', version: '2026-11-01' }];
    const update = (eventTypes: object[]) => t.customer.request(updateTypes, { input: { id, eventTypes } });
    await visit(page, await addressOf('pin'));
    await update([...both, { type: 'api_key.revoked' }]);
    const move = async () => {
      await page.getByRole('button', { name: 'Change to 2027-02-01' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Change to 2027-02-01' }).dblclick();
    };
    await move();
    await page.getByRole('button', { name: 'Change back to 2026-11-01' }).waitFor();
    const pins = await t.sql('select event_type as type from webhook_subscription_event_type order by 1');
    expect(pins.map(({ type }) => type)).toEqual(['api_key.created', 'api_key.revoked', 'order.placed']);

    await update(both);
    await visit(page, await addressOf('pin'));
    await update([{ type: 'api_key.created' }]);
    await move();
    await page.getByText('The version of order.placed was changed in the meantime.').waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await update(both);
  });

  test('a capture of another delivery is compared with what was sent for that one', async () => {
    const address = await addressOf('verify?');
    const { headers, rawHeaders, body } =
      endpoint.receiver.deliveries.find((each) => !address.includes(String(each.headers['webhook-id']).slice(-18))) ??
      missing();
    const sorted = Object.entries(JSON.parse(String(body))).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const receivedAt = new Date(Number(headers['webhook-timestamp']) * 1000).toISOString();
    await visit(page, address);
    await page.getByLabel('Secret of the receiver').fill(endpoint.subscription.secret);
    await page
      .getByLabel('Captured request')
      .fill(JSON.stringify({ headers: rawHeaders, body: JSON.stringify(Object.fromEntries(sorted)), receivedAt }));
    await page.getByRole('button', { name: 'Verify' }).click();
    const result = page.getByRole('status', { name: 'Result' });
    await result.getByText('BODY_KEYS_REORDERED').waitFor();
    expect(await result.innerText()).toContain('1 finding.');
  });

  test('a request that is right is not rejected for a time that was not typed', async () => {
    const body = '{"type":"other"}';
    const { secret } = endpoint.subscription;
    const timestamp = Math.floor(Date.now() / 1000) - 3600;
    const signed = { ...signWebhook({ prefix: 'X-Service', id: 'other', timestamp, body, secret }) };
    await visit(page, 'verify');
    await page.getByLabel('Captured request').fill(JSON.stringify({ headers: signed, body }));
    await page.getByLabel('Secret of the receiver').fill(secret);
    await page.getByRole('button', { name: 'Verify' }).click();
    const result = page.getByRole('status', { name: 'Result' });
    await result.getByText('which you did not type, it is too old.').waitFor();
    expect(await result.innerText()).toMatch(/^Signed correctly\s+It was signed with the secret\./);
    await page.getByLabel('Captured request').fill(JSON.stringify({ headers: signed, body: `${body}\n` }));
    await page.getByRole('button', { name: 'Verify' }).click();
    await result.getByText('Rejected').waitFor();
    expect(await result.innerText()).toMatch(/SIGNATURE_MISMATCH[^]*BODY_TRAILING_NEWLINE[^]*TIMESTAMP_TOO_OLD/);
    expect(await problemsOf(page)).toEqual([]);
  });

  test('a double click or a key changes something once, and the button keeps the focus', async () => {
    await visit(page, await addressOf('subscriptions/'));
    let sent = 0;
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await answer(async (route, operation) => {
      if (operation === 'Pause') {
        sent += 1;
        await held;
      }
      await route.continue();
    });
    await page.getByRole('button', { name: 'Pause' }).dblclick();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).dblclick();
    const sending = page.getByRole('button', { name: 'Sending…', disabled: true });
    await sending.waitFor();
    expect(await problemsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sending…');
    release();
    await page.getByText('Paused', { exact: true }).waitFor();
    expect(sent).toBe(1);
    await page.getByRole('button', { name: 'Resume' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => page.getByText('Paused', { exact: true }).count()).toBe(0);
  });

  test('pending deliveries of an endpoint that is not on hold are sent up to the eighth failure', async () => {
    await change((data) => {
      if (data.webhookSubscription?.health) data.webhookSubscription.health.breakerOpenUntil = null;
      return data;
    });
    await visit(page, await addressOf('subscriptions/'));
    await page.getByRole('button', { name: 'Send pending now' }).click();
    expect(await page.getByRole('dialog').innerText()).toContain(
      'If 8 in a row fail, the rest stay on hold until one succeeds.',
    );
  });

  test('a page looks less often while few points are left', async () => {
    const queries: string[] = [];
    await answer(async (route, operation) => {
      queries.push(operation);
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), RateLimit: '"sessions";r=900;t=1' } });
    });
    await visit(page, await addressOf('subscriptions/'));
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    const { length } = queries;
    await page.waitForTimeout(3_500);
    expect(queries.slice(length)).toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Paused', { exact: true }).waitFor({ state: 'detached' });
  });

  test('a test event that is not answered leads to its delivery', async () => {
    await page.clock.install();
    await change((data, operation) => {
      if (operation === 'Delivery') data.webhookDelivery.attempts = [];
      return data;
    });
    await visit(page, await addressOf('subscriptions/'));
    await page.getByRole('button', { name: 'Send a test event' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Send a test event' }).click();
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

  test.each([
    ['HTML that is assigned', `document.body.innerHTML = '<b>x</b>'`],
    [
      'a script of the page',
      `document.body.append(Object.assign(document.createElement('script'), { textContent: 'x' }))`,
    ],
    [
      'a script of another site',
      `document.body.append(Object.assign(document.createElement('script'), { src: 'https://example.com/' }))`,
    ],
    [
      'a style of the page',
      `document.body.append(Object.assign(document.createElement('style'), { textContent: 'p {}' }))`,
    ],
  ])('the policy of the pages refuses %s', async (_, script) => {
    await page.evaluate(`(() => { try { ${script} } catch {} })()`);
    await expect
      .poll(() => browser.takeProblems().join('\n'))
      .toMatch(/Content Security Policy|TrustedHTML|TrustedScript/);
  });
});
