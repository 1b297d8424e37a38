import { type Page, type Request, useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPortalLink, follow, type PortalSystem, startPortalSystem } from '../support/portal.ts';

// What is requested while the scripts of a page are loading, and a person goes elsewhere meanwhile.

const browser = useBrowser('The portal');

let t: PortalSystem;
let page: Page;
let requests: Request[];

beforeAll(async () => {
  if (!browser.isAbsent) t = await startPortalSystem();
});
afterAll(() => t?.close());
beforeEach(async () => {
  if (!browser.isAbsent) ({ page, requests } = await browser.open(t.origin));
});

/** The page sends the operation again after 30 seconds, whatever it had. */
const soon = { timeout: 25_000 };

const operations = (): string[] => requests.flatMap((each) => each.postDataJSON()?.documentId ?? []);

/** Loads the page again, and goes back before its scripts run. Returns the operation that was sent meanwhile. */
async function leaveEarly(): Promise<string> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
  await page.waitForLoadState('networkidle');
  await page.route('**/assets/index-*.js', async (route) => {
    await released;
    await route.fallback();
  });
  const queried = page.waitForResponse('**/graphql');
  await page.reload({ waitUntil: 'commit' });
  const early = (await queried).request().postDataJSON().documentId;
  await page.evaluate('history.back()');
  // Its scripts are held, so it is not loaded.
  await expect.poll(() => page.url()).toMatch(/deliveries$/);
  release();
  await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
  requests.length = 0;
  return early;
}

describe.skipIf(browser.isAbsent)('what was requested early', () => {
  test('is not shown to the next session', async () => {
    await follow(page, await createPortalLink(t.customer));
    const early = await leaveEarly();
    const { hash } = new URL(await createPortalLink(t.customer));
    await page.evaluate(`location.hash = '${hash}'`);
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await expect.poll(operations, soon).toContain(early);
  });

  test('is not shown once it is old', async () => {
    await page.clock.install();
    await follow(page, await createPortalLink(t.customer));
    const early = await leaveEarly();
    await page.clock.fastForward(11_000);
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await expect.poll(operations, soon).toContain(early);
  });

  test('leaves a link that arrives before it is answered', async () => {
    const link = await createPortalLink(t.customer);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/session', async (route) => {
      if (route.request().method() === 'GET') await released;
      await route.fallback();
    });
    const looked = page.waitForRequest('**/session');
    await page.goto(link.replace(/#.*/, ''));
    await looked;
    await page.evaluate(`location.hash = '${new URL(link).hash}'`);
    await page.getByRole('button', { name: 'Open the portal' }).waitFor();
    const answered = page.waitForResponse('**/session');
    release();
    await answered;
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    expect(browser.takeProblems().filter((problem) => !problem.startsWith('401 for'))).toEqual([]);
  });

  test('is no answer about the session of a link that arrives meanwhile', async () => {
    const link = await createPortalLink(t.customer);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/assets/index-*.js', async (route) => {
      await released;
      await route.fallback();
    });
    const looked = page.waitForResponse('**/session');
    await page.goto(link.replace(/#.*/, ''), { waitUntil: 'commit' });
    await looked;
    await page.evaluate(`location.hash = '${new URL(link).hash}'`);
    release();
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    expect(browser.takeProblems().filter((problem) => !problem.startsWith('401 for'))).toEqual([]);
  });
});
