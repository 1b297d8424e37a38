import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findBrowser, launchBrowser } from './launch-browser.ts';

export type { Locator, Page, Request, Route } from 'playwright-core';

export interface OpenedPage {
  page: Page;
  /** All of them so far, in order. */
  requests: Request[];
}

export interface TestBrowser {
  /** Whether the tests have to be skipped. Under CI they fail instead. */
  isAbsent: boolean;
  /**
   * Opens an empty page in its own context, without the cookies and the storage of others, until the test ends.
   *
   * @param url of the only origin that the page may send requests to, and the base of relative addresses
   */
  open(url: string, options?: BrowserContextOptions): Promise<OpenedPage>;
  /** Returns and forgets the problems so far. A test that has others when it ends fails. */
  takeProblems(): string[];
}

/** What scripts fetch may be refused: a page shows that. */
function isPart(request: Request): boolean {
  return !['fetch', 'xhr'].includes(request.resourceType());
}

/** Prints what a person would see, which says more than that a text did not appear. */
async function print(page: Page): Promise<void> {
  const shown = `document.body.innerText + [...document.querySelectorAll('input, select, textarea')]
    .map(({ name, ariaLabel, value }) => '\\n' + (ariaLabel ?? name) + ': ' + value).join('')`;
  const text = await page.evaluate<string>(shown).catch(String);
  process.stderr.write(`The page of the failed test, ${page.url()}:\n${text}\n`);
}

/** Guards against hanging only. */
const timeoutMs = 120_000;

/**
 * Starts the Chromium of the machine with a new profile before the tests of the file, and ends it after them. A test fails
 * if a page sent a request to another origin, violated its content security policy, could not load a part of itself, threw, or
 * wrote an error to its console.
 *
 * @param subject names the tests that are skipped
 */
export function useBrowser(subject: string): TestBrowser {
  const isAbsent = findBrowser() === undefined && process.env['CI'] !== 'true';
  if (isAbsent) process.stdout.write(`${subject}: skipping the browser test, Chromium is not on the PATH\n`);
  const problems: string[] = [];
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (!isAbsent) browser = await launchBrowser();
  });
  afterEach(async ({ task }) => {
    for (const context of browser?.contexts() ?? []) {
      if (task.result?.state === 'fail') for (const page of context.pages()) await print(page);
      // Requests that a test holds or changes have no response when their page is closed.
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    }
    expect(problems.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());

  return {
    isAbsent,
    async open(url, options = {}) {
      if (browser === undefined) throw new Error('The browser is opened before the tests, and closed after them.');
      const { origin } = new URL(url);
      const context = await browser.newContext({ baseURL: origin, ...options });
      context.setDefaultTimeout(timeoutMs);
      const requests: Request[] = [];
      context.on('request', (request) => {
        requests.push(request);
        const to = new URL(request.url());
        if (/^(?:http|ws)/.test(to.protocol) && to.origin !== origin) problems.push(`request to ${to.origin}`);
      });
      context.on('response', (response) => {
        if (response.status() >= 400 && isPart(response.request()))
          problems.push(`${response.status()} for ${response.url()}`);
      });
      context.on('requestfailed', (request) => {
        const { errorText = '' } = request.failure() ?? {};
        // A page that is left or closed aborts its requests.
        if (isPart(request) && errorText !== 'net::ERR_ABORTED') problems.push(`${errorText} for ${request.url()}`);
      });
      context.on('console', (message) => {
        // Reported above.
        const isRequest = message.text().startsWith('Failed to load resource');
        if (message.type() === 'error' && !isRequest) problems.push(message.text());
      });
      context.on('weberror', (error) => problems.push(String(error.error())));
      return { page: await context.newPage(), requests };
    },
    takeProblems: () => problems.splice(0),
  };
}
