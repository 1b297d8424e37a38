import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import { type Page, type Request, type Route, useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createPortalLink,
  follow,
  type PortalSystem,
  problemsOf,
  screenshot,
  startPortalSystem,
} from '../support/portal.ts';

// What the pages say about a response, including of something in front of Deedwire.

const browser = useBrowser('The portal');

type Answer = Parameters<Route['fulfill']>[0];

const page200 = { contentType: 'text/html; charset=utf-8', body: '<!doctype html><h1>Sign in</h1>' };
const webPage = 'Something between this page and Deedwire answered with a web page';
const login = 'A login in front of this page has ended. Reload to sign in.';
const mayBe = 'Something between this page and Deedwire may have sent it.';

const refusal = (retryAfter: string): Answer => ({
  status: 429,
  headers: { 'Retry-After': retryAfter },
  json: { errors: [{ message: 'Too many points.', extensions: { code: 'RATE_LIMITED', requestId: 'request-7' } }] },
});

/** `response.test.ts` of the portal has the others. */
const answers: readonly (readonly [answer: Answer, text: string])[] = [
  [{ status: 401, ...page200 }, `${webPage} (status 401).`],
  [{ status: 502, contentType: 'text/plain', body: 'Bad gateway' }, `(status 502) is not JSON. ${mayBe}`],
];

let t: PortalSystem;

const isQuery = (request: Request): boolean => request.url().endsWith('/graphql');

/** A session that shows all deliveries: the page sends two queries. */
async function open(): Promise<{ page: Page; base: string; sent: () => number }> {
  const { page, requests } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } });
  await follow(page, await createPortalLink(t.customer));
  return { page, base: new URL(page.url()).pathname, sent: () => requests.filter(isQuery).length };
}

/** Answers queries until it is stopped, and shows the page of deliveries. */
async function answer(page: Page, handle: (route: Route) => Promise<void>): Promise<void> {
  await page.route('**/graphql', handle);
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByRole('alert').waitFor();
}

/** Both queries have failed: what loads says so. */
async function alertsOf(page: Page): Promise<string[]> {
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
  return page.getByRole('alert').allInnerTexts();
}

async function tryAgain(page: Page): Promise<void> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('No deliveries yet.').waitFor();
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
}

/** In a page whose time is that of the test. */
async function refuse(retryAfter: string) {
  const opened = await open();
  await opened.page.clock.install();
  await answer(opened.page, (route) => route.fulfill(refusal(retryAfter)));
  const [text = '', ...others] = await alertsOf(opened.page);
  expect(others).toEqual([]);
  return { ...opened, text };
}

/** The requests of the next seconds. */
async function sentWithin(seconds: number, { page, sent }: { page: Page; sent: () => number }): Promise<number> {
  const before = sent();
  for (let second = 0; second < seconds; second += 1) await page.clock.runFor(1000);
  return sent() - before;
}

/** What the page of a link or of a session that was refused says. */
const hint = (id: string): string => `If new links fail too, tell the operator: request id ${id}.`;

describe.skipIf(browser.isAbsent)('a response', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
  });
  afterAll(() => t.close());

  test('says what it is, once for two queries, and keeps the session', async () => {
    const { page } = await open();
    for (const [given, text] of answers) {
      const headers = { 'Content-Type': given?.contentType ?? 'application/json', 'X-Request-Id': 'request-8' };
      await answer(page, (route) => route.fulfill({ ...given, headers }));
      const alerts = await alertsOf(page);
      expect(alerts).toEqual([expect.stringContaining(text)]);
      expect(alerts[0]).toContain('request id request-8');
      expect(alerts[0]).not.toContain('connection');
      expect(await page.getByRole('button', { name: 'Reload' }).count()).toBe(text.startsWith(webPage) ? 1 : 0);
      await tryAgain(page);
      await page.getByRole('link', { name: 'Verify', exact: true }).click();
    }
  });

  test('that is cut off says so, and with its status and its request id', async () => {
    const { page } = await open();
    const cut = createServer((_, response) => {
      response.writeHead(200, {
        'Content-Type': 'application/json',
        'Content-Length': '900',
        'X-Request-Id': 'request-9',
      });
      response.write('{"data":', () => setTimeout(() => response.destroy(), 50));
    });
    const listening = await listen(cut);
    await answer(page, (route) => route.continue({ url: `http://127.0.0.1:${listening.port}/graphql` }));
    const [text, ...others] = await alertsOf(page);
    expect(text).toContain('The response (status 200) was cut off.');
    expect([text?.includes('request-9'), others]).toEqual([true, []]);
    await tryAgain(page);
    await listening.close();
  });

  test.each([
    ['a browser that is offline', true, 'No response arrived. This browser is offline.'],
    ['a server that cannot be reached', false, 'No response arrived. Check your connection.'],
  ])('that does not arrive at %s says what is known', async (_, isOffline, text) => {
    const { page } = await open();
    await page.getByRole('navigation').getByRole('link', { name: 'Resend' }).click();
    await page.getByText('There is no subscription yet.').waitFor();
    await page.context().setOffline(isOffline);
    await page.route('**/graphql', (route) => route.abort('connectionrefused'));
    await page.goBack();
    await page.getByRole('alert').first().waitFor();
    expect(await alertsOf(page)).toEqual([expect.stringContaining(text)]);
    await page.context().setOffline(false);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect.poll(() => alertsOf(page)).toEqual([]);
  });

  test('that redirects to a login leads to it', async () => {
    const { page, base } = await open();
    await answer(page, (route) => route.fulfill({ status: 302, headers: { Location: 'https://login.example/' } }));
    expect(await alertsOf(page)).toEqual([expect.stringContaining(login)]);
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [320, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 640 });
      await page.emulateMedia({ colorScheme });
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, `login-${width}`);
    }
    await page.unrouteAll();
    await page.route(`**${base}deliveries`, (route) => route.fulfill({ status: 200, ...page200 }));
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  test.each<[string, Answer, string]>([
    ['a login', { status: 302, headers: { Location: 'https://login.example/' } }, login],
    ['a web page with 401', { status: 401, ...page200 }, `${webPage} (status 401).`],
  ])('of %s to a link keeps the link', async (_, given, text) => {
    const { page } = await browser.open(t.origin);
    await page.goto(await createPortalLink(t.customer));
    await page.route('**/session', (route) => route.fulfill(given));
    await page.getByRole('button', { name: 'Open the portal' }).click();
    expect(await page.getByRole('alert').innerText()).toContain(text);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
  });

  test('that refuses a link or a session has a request id for the operator', async () => {
    const { page } = await browser.open(t.origin);
    const link = await createPortalLink(t.customer);
    await follow(page, link);
    const refused = async (url: string): Promise<string> => {
      const response = page.waitForResponse((each) => each.url().endsWith('/session') && each.status() === 401);
      await page.goto('about:blank');
      await page.goto(url);
      if (url === link) await page.getByRole('button', { name: 'Open the portal' }).click();
      return (await response).headers()['x-request-id'] ?? 'none';
    };
    const id = await refused(link);
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    expect(await page.getByRole('main').innerText()).toContain(hint(id));
    expect(await problemsOf(page)).toEqual([]);
    await page.context().clearCookies();
    const other = await refused(link.replace(/#.*/, ''));
    await page.getByRole('heading', { name: 'There is no session' }).waitFor();
    expect(await page.getByRole('main').innerText()).toContain(hint(other));
  });

  test('of an operation that ends the session has a request id for the operator', async () => {
    const { page } = await open();
    await page.context().clearCookies();
    const response = page.waitForResponse((each) => each.url().endsWith('/graphql') && each.status() === 401);
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    const id = (await response).headers()['x-request-id'] ?? 'none';
    await page.getByRole('heading', { name: 'There is no session' }).waitFor();
    expect(await page.getByRole('main').innerText()).toContain(`tell the operator: request id ${id}.`);
  });

  test('that refuses to end the session says so, with its request id', async () => {
    const { page } = await open();
    await page.route('**/session', (route) =>
      route.fulfill({
        status: 503,
        json: { errors: [{ message: 'Not now.', extensions: { code: 'UNAVAILABLE', requestId: 'request-7' } }] },
      }),
    );
    await page.getByRole('link', { name: 'Verify', exact: true }).click();
    await page.getByRole('heading', { name: 'Verify' }).first().waitFor();
    const signOut = page.getByRole('button', { name: 'Sign out' });
    await signOut.click();
    expect(await page.getByRole('alert').innerText()).toMatch(
      /^You may still be signed in\. Not now\.\s+UNAVAILABLE, request id request-7$/,
    );
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
    await screenshot(page, 'not-signed-out');
    await page.unrouteAll();
    await signOut.click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  });

  describe('with Retry-After', () => {
    test('that is a word names no time, and nothing is sent without a person', async () => {
      const opened = await refuse('soon');
      expect(opened.text).not.toContain('again in');
      expect(await sentWithin(30, opened)).toBe(0);
      await tryAgain(opened.page);
    });

    test('that is a date is when the page tries again, within 15 minutes, even at a clock that is set back', async () => {
      const opened = await refuse(new Date(Date.now() + 3_000_000).toUTCString());
      expect(opened.text).toMatch(/tries again in 1[4-8] min(?: \d+ s)?\./);
      await opened.page.clock.setSystemTime(Date.now() - 5 * 3_600_000);
      await opened.page.clock.fastForward('14:00');
      await opened.page.keyboard.press('Tab');
      expect(await sentWithin(1, opened)).toBe(0);
      const before = opened.sent();
      await opened.page.clock.fastForward('05:00');
      await opened.page.clock.runFor(3000);
      expect(opened.sent() - before).toBe(2);
    });

    test('"0" is tried more and more rarely, and only while somebody watches', async () => {
      const opened = await refuse('0');
      const { page } = opened;
      // After 2, 4, 8, 16 and 32 seconds, or a quarter more: two queries each.
      const first = await sentWithin(80, opened);
      expect(first).toBeGreaterThanOrEqual(6);
      expect(first).toBeLessThanOrEqual(12);
      await page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`,
      );
      expect(await sentWithin(90, opened)).toBe(0);
      await page.evaluate(`delete document.visibilityState`);
      expect(await sentWithin(3, opened)).toBe(2);
      // There is no input for longer than 10 minutes.
      await page.clock.fastForward(600_000);
      expect(await sentWithin(90, opened)).toBe(0);
      await page.keyboard.press('Tab');
      expect(await sentWithin(3, opened)).toBe(2);
      await tryAgain(page);
    });
  });

  test('without a file of the page is asked for again once somebody sees the page', async () => {
    const { page, base } = await open();
    await page.clock.install();
    const content = `Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`;
    await page.addInitScript({ content });
    await page.route('**/assets/deliveries-*.js', (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(`${base}deliveries`, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    let loads = 0;
    page.on('request', (request) => {
      if (request.isNavigationRequest()) loads += 1;
    });
    await page.clock.runFor(20_000);
    expect(loads).toBe(0);
    await page.unrouteAll();
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(browser.takeProblems().filter((problem) => !/404|dynamically imported/.test(problem))).toEqual([]);
  });

  test('to a link without the slash after the account leads to the portal, with its token', async () => {
    const { page } = await browser.open(t.origin);
    const link = await createPortalLink(t.customer);
    await page.goto(link.replace('/#', '#'));
    await page.getByRole('button', { name: 'Open the portal' }).click();
    expect(page.url()).toBe(link.replace(/#.*/, ''));
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
  });

  test('to an unknown path is 404, and leads to the start', async () => {
    const { page, base } = await open();
    expect((await page.goto(`${base}unknown`))?.status()).toBe(404);
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    await page.getByRole('link', { name: 'See the subscriptions' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    expect((await page.goto('/customer/portal/'))?.status()).toBe(404);
    expect(await page.getByRole('main').innerText()).toContain('The address of a portal has the number of an account.');
    expect(await problemsOf(page)).toEqual([]);
    expect(browser.takeProblems().filter((problem) => !problem.startsWith('404 for'))).toEqual([]);
  });
});
