import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startTestSystem, type TestSystem } from '@deedwire/dev-environment/harness';
import { findFreePort } from '@deedwire/embedded-postgres';
import { type Client, eventually, missing, type Receiver, startReceiver } from '@deedwire/testing';
import type { Page, Request, Route } from '@deedwire/testing/browser';
import axe from 'axe-core';
import { parse } from 'graphql';
import { expect, onTestFinished } from 'vitest';
import { subscribe } from './subscribe.ts';
import { workspaceRoot } from './workspace-copy.ts';

/** Times as the pages show them: with the day, unless it is today. Close to midnight, it is not. */
export const shownMinute = String.raw`(?:\d+ \w+ at )?\d\d:\d\d`;
export const shownTime = String.raw`(?:\d+ \w+, )?\d\d:\d\d:\d\d`;

export const pages = join(workspaceRoot, 'packages/portal/dist');

export type PortalSystem = TestSystem & { origin: string };

/**
 * Starts the apps. The customer interface serves the pages, which a global setup has built, at `origin`.
 *
 * @param mailPort of a server that takes the mails of the worker. Omitted: it sends none
 */
export async function startPortalSystem({ mailPort }: { mailPort?: number } = {}): Promise<PortalSystem> {
  // The origin is a setting, so the port is chosen before the app starts.
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const t = await startTestSystem({
    apps: ['customer-api', 'webhook-worker'],
    ports: { 'customer-api': port },
    appEnv: {
      'customer-api': { PORTAL_ORIGIN: origin, DOCUMENTATION_URL: 'https://docs.example' },
      ...(mailPort !== undefined && {
        'webhook-worker': {
          PORTAL_ORIGIN: origin,
          SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
          SMTP_FROM: 'Deedwire <webhooks@service.example>',
        },
      }),
    },
  });
  return { ...t, origin };
}

const place = parse('mutation { placeOrder(input: { item: "Grace Hopper" }) { order { id } } }');

export interface FailingEndpoint {
  receiver: Receiver;
  subscription: { id: string; secret: string };
}

/**
 * Subscribes an endpoint that has failed for two days: three deliveries are FAILED, and a newer one is PENDING. The times are
 * moved while no worker runs.
 */
export async function startFailingEndpoint(t: PortalSystem): Promise<FailingEndpoint> {
  const receiver = await startReceiver();
  receiver.onDelivery = (response) => response.writeHead(503, { Server: 'edge-proxy' }).end('upstream connect error');
  const subscription = await subscribe(t.customer, {
    callbackUrl: receiver.url,
    eventTypes: [{ type: 'order.placed' }, { type: 'api_key.created' }],
    name: 'CRM of the north',
  });
  for (let count = 0; count < 3; count += 1) await t.customer.request(place, {});
  await receiver.waitFor(3);
  const pending = (status: string) =>
    eventually(async () => {
      const rows = await t.sql(`select 1 from webhook_attempt where number = ${status}`);
      expect(rows).toHaveLength(3);
    });
  await pending('1');
  await t.system.apps['webhook-worker'].stop();
  // The next attempt is the last one of each delivery.
  await t.sql(`update webhook_pending_delivery set attempts = 14, due_at = now()`);
  await t.sql(`update webhook_receiver_state set failing_since = failing_since - interval '2 days'`);
  await t.system.restart('webhook-worker');
  await eventually(async () => expect(await t.sql('select 1 from webhook_pending_delivery')).toEqual([]));
  await t.customer.request(place, {});
  await eventually(async () => expect(await t.sql('select 1 from webhook_attempt')).toHaveLength(7));
  // Their details are stored later, and pages show them.
  await eventually(async () => expect(await t.sql('select 1 from webhook_exchange')).toHaveLength(7));
  return { receiver, subscription };
}

const createLink = parse(`mutation ($input: CreatePortalLinkInput!) {
  createPortalLink(input: $input) { portalLink { url } userErrors { message } } }`);

export const allAbilities = ['READ', 'READ_PAYLOAD', 'OPERATE', 'CONFIGURE'];

/** A link that the account of a client creates. */
export async function createPortalLink(client: Client, abilities: readonly string[] = allAbilities): Promise<string> {
  const { createPortalLink: created } = await client.request<
    { createPortalLink: { portalLink: { url: string } | null; userErrors: object[] } },
    object
  >(createLink, { input: { abilities, actor: 'user-7' } });
  return created.portalLink?.url ?? missing();
}

/** Opens a link as a person does, and waits until the subscriptions are shown. */
export async function follow(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Open the portal' }).click();
  await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
}

/** Goes to a page of the session, for example `deliveries`, and waits until all of it is shown. */
export async function visit(page: Page, path: string): Promise<void> {
  const [base = ''] = /^\/customer\/portal\/\d+\//.exec(new URL(page.url()).pathname) ?? [];
  await page.goto(base + path);
  await page.waitForLoadState('networkidle');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect.poll(() => page.locator('.loading').count()).toBe(0);
}

/**
 * Requests pages from the address of the browser until too many are requested, and then until the returned function is called or
 * the test ends.
 */
export async function floodPages(origin: string): Promise<() => Promise<void>> {
  let isStopped = false;
  const { promise: isRefused, resolve } = Promise.withResolvers<void>();
  const loops = Array.from({ length: 20 }, async () => {
    while (!isStopped) {
      const { status } = await fetch(`${origin}/customer/portal/1/`);
      if (status !== 429) continue;
      resolve();
      // Ten times as often as requests are restored, so that the machine has time for the page.
      await setTimeout(100);
    }
  });
  const stop = async () => {
    isStopped = true;
    await Promise.all(loops);
  };
  onTestFinished(stop);
  await isRefused;
  return stop;
}

/** Sends a request of a page during a flood, until it is refused. Returns the function that stops the flood. */
export async function refuseDuringFlood(route: Route, origin: string): Promise<() => Promise<void>> {
  const stop = await floodPages(origin);
  let response = await route.fetch();
  while (response.status() !== 429) response = await route.fetch();
  await route.fulfill({ response });
  return stop;
}

/** What axe finds in a page, and whether it has to be scrolled sideways. */
export async function problemsOf(page: Page): Promise<string[]> {
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(axe.source);
  const violations: string[] = await page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' '))))`,
  );
  const width: number = await page.evaluate('document.documentElement.scrollWidth');
  const viewport = page.viewportSize()?.width ?? 0;
  return width > viewport ? [...violations, `${width} pixels wide`] : violations;
}

/** What requests and their responses contain, as `line, headers and bodies`. */
export function trafficOf(requests: readonly Request[]): Promise<string[]> {
  return Promise.all(
    requests.map(async (request) => {
      const response = await request.response();
      const fields = [await request.allHeaders(), (await response?.allHeaders()) ?? {}];
      const body = (await response?.text().catch(() => '')) ?? '';
      return [request.method(), request.url(), JSON.stringify(fields), request.postData() ?? '', body].join('\n');
    }),
  );
}

/** The operation that a request sends, for example `Deliveries`. Undefined for other requests. */
export function operationOf(request: Request, documents: Readonly<Record<string, string>>): string | undefined {
  if (!request.url().endsWith('/graphql')) return undefined;
  const { documentId }: { documentId: string } = request.postDataJSON();
  return /^(?:query|mutation) (\w+)/m.exec(documents[documentId] ?? '')?.[1];
}

/** Writes what is visible to `test-results`, for people, without the empty part below it. `docs/portal` has some of these pictures. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (process.env['CI'] === 'true') return;
  const folder = join(workspaceRoot, 'test-results');
  await mkdir(folder, { recursive: true });
  const { width, height } = page.viewportSize() ?? missing();
  const filled: number = await page.evaluate(
    `(document.querySelector('#root') ?? document.documentElement).scrollHeight`,
  );
  const clip = { x: 0, y: 0, width, height: Math.min(height, filled) };
  await page.screenshot({ path: join(folder, `portal-${name}.png`), clip });
}
