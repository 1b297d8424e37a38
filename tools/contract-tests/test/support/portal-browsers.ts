import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';
import type { Page } from '@deedwire/testing/browser';
import { expect } from 'vitest';
import { createPortalLink, type FailingEndpoint, follow, operationOf, pages, type PortalSystem } from './portal.ts';

// What the tests share that show the pages as other browsers, their translators and their printers do.

/** A script of a page. It is not compiled with the tests, whose types have no browser. */
export const pageScript = (name: string): string =>
  readFileSync(join(import.meta.dirname, `page-scripts/${name}.js`), 'utf8');

const numberOf = (text: string): string => text.split('/').at(-1) ?? missing();

/** A path of each page. */
export async function pathsOf(t: PortalSystem, { subscription: { id } }: FailingEndpoint) {
  const [row = missing()] = await t.sql('select max(delivery_id) as id from webhook_attempt where number = 15');
  const [subscription, delivery] = [numberOf(id), String(row['id'])];
  return {
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
}

export type Paths = Awaited<ReturnType<typeof pathsOf>>;

/** Changes the data of an operation. */
// oxlint-disable-next-line typescript/no-explicit-any -- any JSON
export async function change(page: Page, operation: string, edit: (data: any) => unknown): Promise<void> {
  const { documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8'));
  await page.route('**/graphql', async (route) => {
    if (operationOf(route.request(), documents) !== operation) return route.fallback();
    const response = await route.fetch();
    const { data } = await response.json();
    edit(data);
    await route.fulfill({ response, json: { data } });
  });
}

export async function expectPrintable(page: Page): Promise<void> {
  await page.pdf();
  expect({ url: page.url(), ...Object(await page.evaluate(pageScript('printed'))) }).toEqual({
    url: page.url(),
    color: 'rgb(0, 0, 0)',
    backgroundColor: 'rgb(255, 255, 255)',
    controls: [],
    cut: 0,
  });
}

export async function expectFitsNarrow(page: Page): Promise<void> {
  expect({ url: page.url(), ...Object(await page.evaluate(pageScript('narrow'))) }).toEqual({
    url: page.url(),
    low: [],
    small: [],
    withoutHeading: [],
    isHeaderHigh: false,
    indent: 0,
  });
}

/** A page, and the same page in a browser that translates it. */
export interface Pair {
  readonly plain: Page;
  readonly translated: Page;
}

export interface Translation {
  /** Opens an address in both browsers. */
  readonly show: (url: string) => Promise<Pair>;
  /** Moves the clock of the pages. They read again what is shown. */
  readonly pass: (ms: number) => Promise<void>;
}

/** Both browsers have the same time and the same responses, so that they differ only if a text is not current. */
export async function startTranslation(t: PortalSystem, plain: Page, translated: Page): Promise<Translation> {
  let timeMs = Date.now();
  let responses = new Map<string, Promise<{ status: number; json: unknown }>>();
  await translated.context().addInitScript(pageScript('translate'));
  for (const page of [plain, translated]) {
    const context = page.context();
    await context.clock.setFixedTime(timeMs);
    await context.route('**/graphql', async (route) => {
      const fetched = async () => {
        const response = await route.fetch();
        return { status: response.status(), json: await response.json() };
      };
      const key = route.request().postData() ?? missing();
      const response = responses.get(key) ?? fetched();
      responses.set(key, response);
      await route.fulfill(await response);
    });
    await follow(page, await createPortalLink(t.customer));
  }
  return {
    async show(url) {
      const pair = { plain: await plain.context().newPage(), translated: await translated.context().newPage() };
      for (const page of Object.values(pair)) await page.goto(new URL(url, plain.url()).href);
      await expectCurrent(pair);
      return pair;
    },
    async pass(ms) {
      responses = new Map();
      timeMs += ms;
      for (const page of [plain, translated]) await page.context().clock.setFixedTime(timeMs);
    },
  };
}

const linesOf = async (page: Page): Promise<string[]> =>
  (await page.getByRole('main').innerText()).replaceAll(/[\u00AB\u00BB]/g, '').split('\n');

/** Expects the same text in both, and code and states as they are. */
export async function expectCurrent({ plain, translated }: Pair): Promise<void> {
  const differing = async () => {
    const [own, wanted] = await Promise.all([linesOf(translated), linesOf(plain)]);
    return {
      isLoading: wanted.length < 3 || (await plain.locator('.loading').count()) > 0,
      stale: own.filter((line) => !wanted.includes(line)),
      absent: wanted.filter((line) => !own.includes(line)),
    };
  };
  await expect.poll(differing, { interval: 250 }).toEqual({ isLoading: false, stale: [], absent: [] });
  expect(await translated.locator('main font').count()).toBeGreaterThan(4);
  expect(await translated.locator(':is(code, pre, .state, a:has-text("order.")) font').count()).toBe(0);
}
