import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { findFreePort } from '@deedwire/embedded-postgres';
import { listen } from '@deedwire/testing';
import { launchBrowser } from '@deedwire/testing/launch-browser';
import { median, sum } from 'simple-statistics';
import { type Bench, BenchProblem } from '../bench.ts';
import { buildApps, startOurApp } from '../graphql/contestant.ts';
import { withWorld } from '../graphql/load.ts';
import { describeMachine, introduction, markdownTable } from '../report.ts';
import type { Defer } from '../with-cleanup.ts';

/** 1.6 Mb/s and 150 ms, on a processor that is four times slower. */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const cpuRate = 4;
const largestPaint = `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
  .observe({ type: 'largest-contentful-paint', buffered: true }))`;
const loadedFiles = `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => /\\.(?:css|js)$/.test(name))`;

/** The first page, and those that are reached from it. A number that does not exist loads the same files. */
const paths = ['', 'subscriptions/1', 'deliveries', 'deliveries/1', 'recover', 'recover/completeness', 'verify'];

export const portal: Bench = {
  name: 'portal',
  summary:
    'the size of the pages of the portal, the time until a slow phone shows them, and their cost at the interface',

  async run({ quick, progress }) {
    progress('Building the app and the pages');
    await buildApps(['partner-api', 'portal']);
    return withWorld(1, async (world, _, defer) => {
      const port = await findFreePort();
      const { url, usage } = await startOurApp(defer, 'partner', {
        databaseUrl: world.appDatabaseUrls.partner,
        secretKeys: world.secretKeys,
        built: true,
        env: {
          NODE_ENV: 'test',
          WEBHOOK_CALLBACK_POLICY: 'development',
          PORT: String(port),
          PORTAL_ORIGIN: `http://127.0.0.1:${port}`,
        },
      });
      const link = await prepare(url, world.callers.get('referrals-100')?.[0]?.credentials ?? {}, defer);
      const browser = await launchBrowser().catch((error: unknown) => {
        throw new BenchProblem(String(error));
      });
      defer(() => browser.close());
      const first = await browser.newPage();
      await first.goto(link);
      await first.getByRole('button', { name: 'Open the portal' }).click();
      await first.getByRole('heading', { name: 'Subscriptions' }).waitFor();
      const base = first.url();
      const storageState = await first.context().storageState();

      /** Loads a page without a cache. */
      async function load(path: string) {
        const context = await browser.newContext({ storageState, viewport: { width: 390, height: 844 } });
        const page = await context.newPage();
        const devtools = await context.newCDPSession(page);
        await devtools.send('Network.emulateNetworkConditions', network);
        await devtools.send('Emulation.setCPUThrottlingRate', { rate: cpuRate });
        const before = await usage();
        await page.goto(base + path);
        // The network is idle as well while a slow processor starts the scripts.
        await page.locator('main:not(.notice) h1').waitFor();
        await page.locator('.loading').first().waitFor({ state: 'detached' });
        await page.waitForLoadState('networkidle');
        const { cpuMs } = await usage();
        const lcpMs: number = await page.evaluate(largestPaint);
        const files: string[] = await page.evaluate(loadedFiles);
        await context.close();
        return { cpuMs: cpuMs - before.cpuMs, lcpMs, files };
      }

      const results = [];
      const known = new Set<string>();
      for (const path of paths) {
        progress(path === '' ? 'The first load' : `The page ${path}`);
        const rounds: Awaited<ReturnType<typeof load>>[] = [];
        for (let round = 0; round < (quick ? 1 : 7); round += 1) rounds.push(await load(path));
        const medianOf = (key: 'cpuMs' | 'lcpMs'): number => median(rounds.map((each) => each[key]));
        const files = (rounds[0]?.files ?? []).filter((file) => !known.has(file));
        if (path === '') for (const file of files) known.add(file);
        const texts = await Promise.all(files.map(async (file) => (await fetch(file)).text()));
        const gzipBytes = sum(texts.map((text) => gzipSync(text).length));
        results.push({ path, gzipBytes, lcpMs: medianOf('lcpMs'), cpuMs: medianOf('cpuMs') });
      }
      const json = { bench: 'portal', quick, machine: describeMachine(), pages: results };
      const title = 'The portal, loaded without a cache at 1.6 Mb/s, 150 ms and CPU ÷ 4, medians.';
      const rows = results.map(({ path, gzipBytes, lcpMs, cpuMs }) => [
        path || 'first load',
        `${(gzipBytes / 1000).toFixed(1)} kB`,
        `${Math.round(lcpMs)} ms`,
        `${cpuMs.toFixed(1)} ms`,
      ]);
      const head = ['page', 'further files, gzip', 'largest contentful paint', 'CPU of the interface'];
      return { json, markdown: `${introduction(title, json)}\n\n${markdownTable([head, ...rows])}` };
    });
  },
};

/** Subscribes five endpoints, and creates a link to the portal. */
async function prepare(url: string, credentials: Record<string, string>, defer: Defer): Promise<string> {
  // Echoes the token of a handshake.
  const receiver = await listen(createServer((request, response) => void request.pipe(response)));
  defer(() => receiver.close());
  const subscriptions = Array.from({ length: 5 }, (_, at) => {
    const input = `{ callbackUrl: "http://127.0.0.1:${receiver.port}/${at}", eventTypes: [{ type: "referral.created" }] }`;
    return `s${at}: createWebhookSubscription(input: ${input}) { userErrors { code } }`;
  });
  const link = 'createPortalLink(input: { abilities: [READ], actor: "bench" }) { portalLink { url } }';
  let body = '';
  for (const mutation of [...subscriptions, link]) {
    const headers = { 'Content-Type': 'application/json', ...credentials };
    const query = `mutation { ${mutation} }`;
    body = await (await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query }) })).text();
  }
  const [, created] = /"url":"([^"]+)"/.exec(body) ?? [];
  if (created === undefined) throw new Error(`There is no link to the portal: ${body}`);
  return created;
}
