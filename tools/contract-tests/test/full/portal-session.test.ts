import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Page, type Request, type Route, useBrowser } from '@deedwire/testing/browser';
import { launchProfile } from '@deedwire/testing/launch-browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createPortalLink,
  type FailingEndpoint,
  follow,
  type PortalSystem,
  problemsOf,
  screenshot,
  shownTime,
  startFailingEndpoint,
  startPortalSystem,
  visit,
} from '../support/portal.ts';

// The clock of the page is moved. The session is changed in the database, whose clock stays.

const browser = useBrowser('The session of the portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let path: string;
let page: Page;
let requests: Request[];

/** Opens the page of a delivery. */
async function open(timeMs = Date.now()): Promise<void> {
  ({ page, requests } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } }));
  await page.clock.install({ time: timeMs });
  const link = await createPortalLink(t.customer);
  await page.goto(link.replace('#', `${path}#`));
  await page.getByRole('button', { name: 'Open the portal' }).click();
  await page.getByText('upstream connect error').first().waitFor();
  // Those until now are forgotten.
  requests.length = 0;
}

const newest = '(select max(id) from portal_session where token_hash is not null)';

/** Changes the newest session, and waits until no process has it in its memory. */
async function change(set: string): Promise<void> {
  await t.sql(`update portal_session set ${set} where id = ${newest}`);
  await sleep(1_000);
}

const endSession = (): Promise<void> => change(`expires_at = date_trunc('milliseconds', now())`);

const leaveFor = (interval: string): Promise<void> => change(`last_used_at = now() - interval '${interval}'`);

const lastUse = (): Promise<object[]> => t.sql(`select last_used_at::text from portal_session where id = ${newest}`);

/** What was sent since the page was opened, as `GET session`. */
const sent = (): string[] =>
  requests.map((request) => `${request.method()} ${new URL(request.url()).pathname.split('/').at(-1)}`);

const heading = (name: string, of = page): Promise<void> => of.getByRole('heading', { name }).waitFor();

/** What a page without a session may not contain. */
async function leftovers(of = page): Promise<string[]> {
  const kept: string = await of.evaluate('document.title + document.documentElement.outerHTML');
  const [account] = await t.sql('select name from account where id = $1', [t.accounts.customer.accountId]);
  const texts = ['upstream connect error', 'order.placed', 'user-7', 'gid://', String(account?.['name'])];
  return texts.filter((text) => kept.includes(text));
}

const hasEnded = async (of = page): Promise<void> => {
  await heading('There is no session', of);
  expect(await leftovers(of)).toEqual([]);
};

const stillThere = () => page.getByRole('status').filter({ hasText: 'Still there?' });

beforeAll(async () => {
  if (browser.isAbsent) return;
  t = await startPortalSystem();
  endpoint = await startFailingEndpoint(t);
  const [row] = await t.sql('select max(delivery_id) as id from webhook_attempt where number = 15');
  path = `deliveries/${String(row?.['id'])}?side=response`;
});
afterAll(async () => {
  if (browser.isAbsent) return;
  await endpoint.receiver.close();
  await t.close();
});

describe.skipIf(browser.isAbsent)('a page', () => {
  test('asks once when its session was idle for 30 minutes, and clears itself', async () => {
    await open();
    expect(await leftovers()).not.toEqual([]);
    await leaveFor('30 minutes');
    await page.clock.fastForward('30:00');
    await hasEnded();
    expect(sent()).toEqual(['GET session']);
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await problemsOf(page)).toEqual([]);
    await screenshot(page, 'ended-narrow');
  });

  test('stays while another tab uses the session, and its questions are no use of it', async () => {
    await open();
    await leaveFor('2 minutes');
    const used = await lastUse();
    await Promise.all([page.waitForResponse('**/session'), page.clock.fastForward('29:00')]);
    await page.clock.runFor(1_000);
    expect(sent()).toEqual(['GET session']);
    // The last response says that 28 minutes are left.
    await page.clock.fastForward('26:00');
    expect(sent()).toEqual(['GET session']);
    // Seldom, because minutes of the page may not pass before the response.
    await expect
      .poll(
        async () => {
          await page.clock.fastForward('01:00');
          return sent();
        },
        { interval: 2_000 },
      )
      .toEqual(['GET session', 'GET session']);
    expect(await lastUse()).toEqual(used);
    expect(await leftovers()).not.toEqual([]);
    expect(await stillThere().count()).toBe(0);
  });

  test('asks a minute before the end whether somebody is there, who stays', async () => {
    await open();
    await leaveFor('29 minutes 15 seconds');
    const used = await lastUse();
    await page.clock.fastForward('28:30');
    await stillThere().waitFor();
    expect(sent()).toEqual(['GET session']);
    expect(await stillThere().innerText()).toMatch(new RegExp(`You will be signed out at ${shownTime}\\.`));
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [320, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 820 });
      await page.emulateMedia({ colorScheme });
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, `still-there-${width}`);
    }
    expect(await lastUse()).toEqual(used);
    await page.route('**/graphql', (route) => route.abort());
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.getByRole('alert').getByText('No response arrived.').waitFor();
    await page.unroute('**/graphql');
    await page.getByRole('button', { name: 'Stay signed in' }).click();
    await page.getByText('You are still signed in.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await stillThere().count()).toBe(0);
    await expect.poll(lastUse).not.toEqual(used);
    requests.length = 0;
    await page.clock.fastForward('27:00');
    expect(sent()).toEqual([]);
  });

  test('says that the session ends after 8 hours, offers no way to prolong it, and clears itself then', async () => {
    await open();
    let expiresInSeconds = 100;
    await page.route('**/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), expiresInSeconds } });
    });
    await page.reload();
    await page.getByText('upstream connect error').first().waitFor();
    expiresInSeconds = 45;
    await page.clock.fastForward('00:50');
    await page.getByRole('status').filter({ hasText: 'because it has lasted 8 hours' }).waitFor();
    expect(await page.getByRole('button', { name: 'Stay signed in' }).count()).toBe(0);
    await page.unroute('**/session');
    await endSession();
    await page.clock.fastForward('00:50');
    await hasEnded();
  });

  test.each([
    ['is seen again', `document.dispatchEvent(new Event('visibilitychange'))`],
    [
      'returns from the back/forward cache, which a dispatched event stands for',
      `dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`,
    ],
  ])('clears itself when it %s after the end', async (_, event) => {
    await open();
    await endSession();
    await page.evaluate(event);
    await hasEnded();
    expect(sent()).toEqual(['GET session']);
  });

  test('clears itself after a sleep in which its timers and its monotonic clock stood still', async () => {
    await open();
    await endSession();
    await page.clock.setSystemTime(Date.now() + 9 * 3_600_000);
    await page.clock.runFor(2_000);
    await hasEnded();
    expect(sent()).toEqual(['GET session']);
  });

  test.each([
    ['5 hours fast', 5],
    ['5 hours slow', -5],
  ])('at a clock that is %s keeps a live session, and clears itself at the end', async (_, hours) => {
    await open(Date.now() + hours * 3_600_000);
    await page.clock.fastForward('25:00');
    expect(sent()).toEqual([]);
    expect(await leftovers()).not.toEqual([]);
    await endSession();
    // A person sets it right, or wrong, meanwhile.
    await page.clock.setSystemTime(Date.now() - 3 * 3_600_000);
    await page.clock.fastForward('05:00');
    await hasEnded();
  });

  test.each([
    ['that nothing is left of it', { expiresInSeconds: 0 }, 'There is no session'],
    ['something about another one', { id: 'gid://service/PortalSession/0' }, 'Your session could not be checked'],
  ])('asks once when its session is due to end, receives %s, and clears itself', async (_, received, title) => {
    await open();
    await page.route('**/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), ...received } });
    });
    await page.clock.fastForward('30:00');
    await heading(title);
    expect(await leftovers()).toEqual([]);
    await page.clock.runFor(10_000);
    expect(sent()).toEqual(['GET session']);
  });

  test.each([1_700, 70, 11])('asks a few times if a proxy always answers that %i seconds are left', async (seconds) => {
    await open();
    const response = await page.request.get(`${new URL(page.url()).pathname.replace(/deliveries.*/, '')}session`);
    const kept = { ...(await response.json()), idleEndsInSeconds: seconds };
    await page.route('**/session', (route) => route.fulfill({ json: kept }));
    await page.clock.fastForward('29:00');
    await expect.poll(sent).toEqual(['GET session']);
    await expect
      .poll(async () => {
        await page.clock.fastForward('05:00');
        return page.getByRole('heading', { level: 1 }).innerText();
      })
      .toBe('Your session could not be checked');
    expect(await leftovers()).toEqual([]);
    expect(sent().length).toBeLessThan(5);
  });

  test('has nothing of its session in its memory after the end', async () => {
    await open();
    await visit(page, 'deliveries');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await heading('You are signed out');
    const devTools = await page.context().newCDPSession(page);
    const chunks: string[] = [];
    devTools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => chunks.push(chunk));
    await devTools.send('HeapProfiler.collectGarbage');
    await devTools.send('HeapProfiler.takeHeapSnapshot');
    const heap = chunks.join('');
    expect(heap).toContain('You are signed out');
    expect(heap.includes('upstream connect error')).toBe(false);
  });

  test('hides what it shows when no answer arrives at the end, says so, and asks again', async () => {
    await open();
    await page.route('**/session', (route) => route.abort());
    await page.clock.fastForward('30:00');
    await heading('Your session could not be checked');
    expect(await leftovers()).toEqual([]);
    expect(await problemsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.getByRole('alert').getByText('No response arrived.').waitFor();
    await page.unroute('**/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('upstream connect error').first().waitFor();
  });

  test('sends nothing by itself 10 minutes after the last input', async () => {
    await open();
    await visit(page, '');
    requests.length = 0;
    await page.clock.fastForward('01:00');
    await expect.poll(sent).toContain('POST graphql');
    await page.route('**/graphql', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'Retry-After': '700' },
        json: { errors: [{ message: 'Too many.', extensions: { code: 'RATE_LIMITED' } }] },
      }),
    );
    await page.getByRole('navigation').getByRole('link', { name: 'Resend' }).click();
    await page.getByText('This page tries again in').first().waitFor();
    requests.length = 0;
    await page.clock.fastForward('10:30');
    // It waits up to a quarter longer than the server names.
    await page.clock.fastForward('05:00');
    await page.clock.runFor(2_000);
    expect(sent()).toEqual([]);
    await page.unroute('**/graphql');
    await page.keyboard.press('Tab');
    await page.clock.runFor(2_000);
    await expect.poll(sent).toContain('POST graphql');
  });

  test('left open over midnight says when it was read, stops its clocks, and is read at once when somebody returns', async () => {
    await open(new Date().setHours(23, 55));
    await visit(page, '');
    const main = page.getByRole('main');
    const note = main.getByText(/^Updated \d+ \w+ at 23:5\d · /);
    await page.clock.fastForward('10:30');
    await note.waitFor();
    const text = await main.innerText();
    await page.clock.fastForward('05:00');
    expect(await main.innerText()).toBe(text);
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [320, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 820 });
      await page.emulateMedia({ colorScheme });
      expect(await problemsOf(page)).toEqual([]);
      await screenshot(page, `left-open-${width}`);
    }
    requests.length = 0;
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await expect.poll(sent).toContain('POST graphql');
    expect(await note.count()).toBe(0);
    await expect.poll(() => main.innerText()).not.toBe(text);
  });

  test('looks for changes at its pace when a person sets the clock', async () => {
    await open();
    await visit(page, 'deliveries');
    // By the clocks of the page, which go on while a busy machine takes its time.
    await page.evaluate(`(() => {
      const send = fetch;
      sentAtMs = [];
      fetch = (...request) => {
        if (String(request[0]).endsWith('graphql')) sentAtMs.push([Date.now(), performance.now()]);
        return send(...request);
      };
    })()`);
    const sentAtMs = (): Promise<[number, number][]> => page.evaluate('sentAtMs');
    const areSent = (count: number) =>
      expect.poll(async () => (await sentAtMs()).length, { interval: 100 }).toBeGreaterThanOrEqual(count);
    const setClock = async (hours: number) => {
      await page.clock.setSystemTime(Date.now() + hours * 3_600_000);
      await page.keyboard.press('Tab');
    };
    await setClock(-5);
    // The first time because of the age of the rows, then because of that of the last query.
    for (const count of [2, 4]) {
      await page.clock.fastForward('00:20');
      await areSent(count);
    }
    await setClock(5);
    await areSent(6);
    for (let second = 0; second < 10; second += 1) {
      await page.clock.runFor(1_000);
      // Nothing is sent before the response.
      await sleep(100);
    }
    // Two queries each time. A clock that is set forward ends a pause.
    const times = await sentAtMs();
    const pausesMs = times
      .slice(2)
      .map(([atMs, monotonicMs], index) =>
        Math.max(atMs - (times[index]?.[0] ?? 0), monotonicMs - (times[index]?.[1] ?? 0)),
      );
    expect(Math.min(...pausesMs)).toBeGreaterThan(14_000);
  });
});

describe.skipIf(browser.isAbsent)('two tabs', () => {
  let other: Page;

  const openBoth = async (): Promise<void> => {
    await open();
    other = await page.context().newPage();
    await other.goto(new URL(page.url()).pathname.replace(/deliveries.*/, ''));
    await heading('Subscriptions', other);
    requests.length = 0;
  };

  test('are signed out together', async () => {
    await openBoth();
    await other.getByRole('button', { name: 'Sign out' }).click();
    await heading('You are signed out');
    expect(await leftovers()).toEqual([]);
    expect(sent().filter((each) => each.endsWith('session'))).toEqual(['DELETE session']);
  });

  test('show one session: a new link clears the tab of the one before', async () => {
    await openBoth();
    await follow(other, await createPortalLink(t.customer, ['READ']));
    await hasEnded();
    await page.getByRole('button', { name: 'Check again' }).click();
    await expect.poll(() => page.getByRole('banner').innerText()).toContain('(read)');
    // The new tab keeps its session.
    await other.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await heading('Deliveries', other);
  });

  test('keep a session that is newer than the one that a late answer ends', async () => {
    await openBoth();
    const [ended, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await other.route('**/session', async (route) => {
      const response = await route.fetch();
      ended.resolve();
      await late.promise;
      await route.fulfill({ response });
    });
    await other.getByRole('button', { name: 'Sign out' }).click();
    await ended.promise;
    await follow(page, await createPortalLink(t.customer));
    await heading('There is no session', other);
    const answered = other.waitForResponse('**/session');
    late.resolve();
    await answered;
    // A message to the tabs arrives before the next click.
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await heading('Deliveries');
    await heading('There is no session', other);
    await page.reload();
    await heading('Deliveries');
    expect(await page.context().cookies()).toHaveLength(1);
  });
});

describe.skipIf(browser.isAbsent)('a link', () => {
  const noCookies = 'This browser keeps no cookies for this site. Allow them, or open the link in another browser.';

  test('opened in a Chromium that blocks cookies is not used, and opens the portal in another browser', async () => {
    const link = await createPortalLink(t.customer);
    const folder = await mkdtemp(join(tmpdir(), 'portal-session-'));
    const context = await launchProfile(folder, { profile: { default_content_setting_values: { cookies: 2 } } });
    try {
      const blocked = await context.newPage();
      const posted: string[] = [];
      blocked.on('request', (request) => posted.push(request.method()));
      await blocked.goto(link);
      await blocked.getByText(noCookies).waitFor();
      expect(await problemsOf(blocked)).toEqual([]);
      await blocked.getByRole('button', { name: 'Open the portal' }).click();
      expect(await blocked.getByRole('alert').innerText()).toBe(noCookies);
      expect(posted).not.toContain('POST');
      // The address can be copied.
      expect(blocked.url()).toBe(link);
      await blocked.goto(link.replace(/#.*/, '?reload'));
      await heading('There is no session', blocked);
      await blocked.getByText(noCookies).waitFor();
    } finally {
      await context.close();
      await rm(folder, { recursive: true });
    }
    ({ page } = await browser.open(t.origin));
    await follow(page, link);
  });

  test('opens the portal once cookies are allowed', async () => {
    ({ page } = await browser.open(t.origin));
    await page.addInitScript(
      `Object.defineProperty(document, 'cookie', { configurable: true, get: () => '', set: () => {} })`,
    );
    await page.goto(await createPortalLink(t.customer));
    await page.getByText(noCookies).waitFor();
    await page.evaluate('delete document.cookie');
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await heading('Subscriptions');
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.context().cookies()).toEqual([expect.objectContaining({ name: 'deedwire-customer-portal' })]);
  });

  test('whose cookie is lost on its way says so, with the request id', async () => {
    ({ page } = await browser.open(t.origin));
    const lose = async (route: Route) => {
      const response = await route.fetch();
      await page.context().clearCookies();
      await route.fulfill({ status: response.status(), json: await response.json() });
    };
    await page.route('**/session', (route) => (route.request().method() === 'POST' ? lose(route) : route.continue()));
    await page.goto(await createPortalLink(t.customer));
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await heading('The session was lost');
    expect(await page.getByRole('main').innerText()).toMatch(/tell the operator: request id [\w-]+/);
    expect(await problemsOf(page)).toEqual([]);
  });

  test('that was used says so, with the request id', async () => {
    ({ page } = await browser.open(t.origin));
    const link = await createPortalLink(t.customer);
    await follow(page, link);
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await heading('This link no longer works');
    expect(await page.getByRole('main').innerText()).toMatch(/tell the operator: request id [\w-]+/);
  });
});
