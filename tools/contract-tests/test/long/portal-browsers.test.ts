import { type Page, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
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
  startFailingEndpoint,
  startPortalSystem,
  visit,
} from '../support/portal.ts';

// Each page, as other browsers, their translators and their printers show it. `portal-devices.test.ts` has what people meet most.

const browser = useBrowser('The portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let paths: Paths;

async function open(options: object = {}, script = ''): Promise<Page> {
  const { page } = await browser.open(t.origin, options);
  await page.addInitScript(script);
  await follow(page, await createPortalLink(t.customer));
  return page;
}

describe.skipIf(browser.isAbsent)('each page of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    endpoint = await startFailingEndpoint(t);
    paths = await pathsOf(t, endpoint);
  });
  afterAll(async () => {
    await endpoint.receiver.close();
    await t.close();
  });

  test('needs no method that Chrome 123, Firefox 120 or Safari 17.5 does not have', async () => {
    const page = await open({}, pageScript('remove-newer-methods'));
    for (const path of Object.values(paths)) {
      await visit(page, path);
      expect(await page.locator('.notice').count()).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
    }
  });

  test('has headings beside values, and controls for fingers, on a narrow screen', async () => {
    const page = await open({ viewport: { width: 320, height: 640 } });
    for (const path of Object.values(paths)) {
      await visit(page, path);
      await expectFitsNarrow(page);
    }
    expect(browser.takeProblems()).toEqual([]);
  });

  test.each([320, 1280])('loses nothing in a window of %d pixels when text is twice as large', async (width) => {
    const page = await open({ viewport: { width, height: 640 } }, pageScript('enlarge-text'));
    for (const path of Object.values(paths)) {
      await visit(page, path);
      const found = await page.evaluate('enlargeText(2)');
      expect({ path, ...Object(found) }).toEqual({ path, cut: [], outside: [] });
    }
  });

  test('is printed black on white, as a whole and without controls', async () => {
    const page = await open({ colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    for (const path of Object.values(paths)) {
      await visit(page, path);
      await expectPrintable(page);
    }
    expect(browser.takeProblems()).toEqual([]);
  });

  test('is current in a browser that translates it', async () => {
    const [{ page: plain }, { page: translated }] = [await browser.open(t.origin), await browser.open(t.origin)];
    const { show, pass } = await startTranslation(t, plain, translated);
    const { home: first, ...others } = paths;
    const home = await show(first);
    const shown = [home];
    for (const path of Object.values(others)) shown.push(await show(path));
    // One more is pending, which the first page says.
    await t.customer.request(parse('mutation { placeOrder(input: { item: "Ada" }) { order { id } } }'), {});
    await pass(60_000);
    await home.plain.getByText(/^2\b/).first().waitFor();
    for (const pair of shown) await expectCurrent(pair);
    expect(browser.takeProblems()).toEqual([]);
  });
});
