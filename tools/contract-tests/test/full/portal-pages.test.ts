import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { callOperator } from '@deedwire/dev-environment/harness';
import { acknowledge, commandsOf, missing } from '@deedwire/testing';
import { type Page, type Route, useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { succeed } from '../support/command.ts';
import {
  createPortalLink,
  type FailingEndpoint,
  floodPages,
  follow,
  operationOf,
  pages,
  type PortalSystem,
  problemsOf,
  refuseDuringFlood,
  screenshot,
  startFailingEndpoint,
  startPortalSystem,
  trafficOf,
  visit,
} from '../support/portal.ts';
import { subscribe } from '../support/subscribe.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

const browser = useBrowser('The portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let documents: Record<string, string>;

/** The newest delivery that failed, with the advice as it is shown. */
let failed: { id: string; advice: string };

function pathsOf(): string[] {
  const [subscription, delivery] = [endpoint.subscription.id, failed.id].map((id) => id.split('/').at(-1));
  return [
    '',
    `subscriptions/${subscription}`,
    `subscriptions/${subscription}/pin`,
    'deliveries',
    `deliveries/${delivery}`,
    'recover',
    'recover/completeness',
    'verify',
    `verify?delivery=${delivery}&attempt=15`,
  ];
}

/** What else the browser reports of a page with a file that is refused. */
function problemsWithoutRefusals(): string[] {
  return browser.takeProblems().filter((problem) => !/^429 for |MIME|imported module/.test(problem));
}

/** As a browser that blocks cookies and site data. */
function blockStorage(): void {
  Object.defineProperty(globalThis, 'sessionStorage', {
    get() {
      throw new DOMException('Access is denied for this document.', 'SecurityError');
    },
  });
}

/** A refused page is loaded again by a timer: on a busy machine, it could be before anybody has seen why. */
async function pauseClock(page: Page): Promise<void> {
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 60_000);
}

describe.skipIf(browser.isAbsent)('the pages of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    ({ documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8')));
    endpoint = await startFailingEndpoint(t);
    const { webhookDeliveries } = await t.customer.request<
      { webhookDeliveries: { nodes: { id: string; attempts: { advice: string }[] }[] } },
      object
    >(parse('{ webhookDeliveries(status: FAILED) { nodes { id attempts { advice } } } }'), {});
    const [{ id, attempts } = missing()] = webhookDeliveries.nodes;
    failed = { id, advice: (attempts[0]?.advice ?? missing()).replaceAll('`', '') };
  });
  afterAll(async () => {
    await endpoint.receiver.close();
    await t.close();
  });

  test('each can be used by everybody, on a wide and light and on a narrow and dark screen', async () => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.customer));
    for (const path of pathsOf()) {
      await visit(page, path);
      // Each page on both screens and in both color schemes, but not in each pair of them.
      for (const [screen, width, height, colorScheme] of [
        ['wide', 1280, 820, 'light'],
        ['narrow', 320, 640, 'dark'],
      ] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        const name = path.replace(/\/\d+/, '-page').replace(/\?.*/, '-attempt').replace('/', '-') || 'home';
        const shown = `${name}-${screen}-${colorScheme}`;
        expect({ shown, problems: await problemsOf(page) }).toEqual({ shown, problems: [] });
        await screenshot(page, shown);
      }
    }
  });

  test('the deliveries need no sideways scrolling of the page when only its text is enlarged to 400 %', async () => {
    const { page } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } });
    await follow(page, await createPortalLink(t.customer));
    await visit(page, 'deliveries');
    await page.evaluate(`{
      const elements = Array.from(document.querySelectorAll('body, body *'));
      const sizes = elements.map((each) => 4 * parseFloat(getComputedStyle(each).fontSize) + 'px');
      for (const [at, each] of elements.entries()) each.style?.setProperty('font-size', sizes[at]);
    }`);
    expect(await problemsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 3000 });
    await screenshot(page, 'deliveries-enlarged');
  });

  test('the program of docs/portal.md creates a link', async () => {
    const [program = ''] = commandsOf(
      readFileSync(join(workspaceRoot, 'docs/portal.md'), 'utf8'),
      'Links from your backend',
      1,
    );
    const { clientId: CLIENT_ID, apiKey: API_KEY, organizationId: ORGANIZATION_ID } = t.accounts.customer.credential;
    const env = { DEEDWIRE_URL: t.urls.customer, CLIENT_ID, API_KEY, ORGANIZATION_ID };
    const link = await succeed('node', ['--input-type=module', '--eval', program], { cwd: workspaceRoot, env });
    const { page } = await browser.open(t.origin);
    await follow(page, link.trim());
    expect(await page.getByRole('banner').innerText()).toContain('user-4711');
  });

  test('a session that may only read is offered no change, and can make none', async () => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.customer, ['READ']));
    for (const path of pathsOf()) {
      await visit(page, path);
      const buttons = await page.getByRole('main').getByRole('button').allInnerTexts();
      // A control for files is a button without a text.
      expect(
        buttons.filter(
          (label) => !['Find', 'Filter', 'Refresh', 'Copy', 'Compare', 'Verify'].includes(label) && label !== '',
        ),
      ).toEqual([]);
    }
    const base = new URL(page.url()).pathname.replace(/verify.*/, '');
    const [documentId] = Object.entries(documents).find(([, text]) => text.includes('retryWebhookDelivery')) ?? [];
    const status = await page.evaluate(
      `fetch('${base}session').then((response) => response.json()).then(({ id }) => fetch('${base}graphql', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Portal-Session': id },
        body: ${JSON.stringify(JSON.stringify({ documentId, variables: { id: failed.id } }))},
      })).then(async (response) => [response.status, (await response.json()).errors[0].extensions.code])`,
    );
    expect(status).toEqual([403, 'FORBIDDEN']);
  });

  test('a link that is opened during a flood from its network opens the portal after it', async () => {
    const { page } = await browser.open(t.origin);
    const link = await createPortalLink(t.customer);
    const stop = await floodPages(t.origin);
    await pauseClock(page);
    // A request can get what was restored meanwhile.
    while ((await page.goto(link))?.status() !== 429) await page.goto('about:blank');
    await page.getByRole('heading', { name: 'Too many requests' }).waitFor();
    await stop();
    await page.clock.resume();
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    expect(problemsWithoutRefusals()).toEqual([]);
  });

  test.each([
    ['script', 'index-*.js'],
    ['style sheet', 'index-*.css'],
    ['file', 'deliveries-*.js'],
    ['file that another one imports', 'table-*.js'],
    ['file, in a browser that blocks its storage,', 'deliveries-*.js', blockStorage],
  ])('a page whose %s is refused during a flood is shown after it', async (_, file, prepare = () => {}) => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.customer));
    // Without what the browser has kept.
    const { page: again } = await browser.open(t.origin, { storageState: await page.context().storageState() });
    await again.addInitScript(prepare);
    await pauseClock(again);
    const { promise: refused, resolve } = Promise.withResolvers<() => Promise<void>>();
    const refuse = async (route: Route) => resolve(await refuseDuringFlood(route, t.origin));
    await again.route(`**/assets/${file}`, refuse, { times: 1 });
    await again.goto(`${new URL(page.url()).pathname}deliveries`, { waitUntil: 'commit' });
    const stop = await refused;
    await again.getByRole('heading', { name: 'This page could not be shown' }).waitFor();
    await stop();
    await again.clock.resume();
    await again.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(problemsWithoutRefusals()).toEqual([]);
  });

  test('a page asks for its session and its contents while its files are loading, and a link for nothing', async () => {
    const { page, requests } = await browser.open(t.origin);
    const sessions = () => requests.filter((each) => each.url().endsWith('/session')).map((each) => each.method());
    await page.goto(await createPortalLink(t.customer));
    await page.getByRole('button', { name: 'Open the portal' }).waitFor();
    expect(sessions()).toEqual([]);
    await page.getByRole('button', { name: 'Open the portal' }).click();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    const queried = page.waitForResponse((each) => each.url().endsWith('/graphql'));
    await page.route('**/assets/index-*.js', async (route) => {
      await queried;
      await route.fallback();
    });
    requests.length = 0;
    await page.reload();
    await page.getByText('CRM of the north').first().waitFor();
    expect(sessions()).toEqual(['GET']);
    const early = (await (await queried).request().postDataJSON()).documentId;
    expect(requests.filter((each) => each.postDataJSON()?.documentId === early)).toHaveLength(1);
  });

  test('a page whose session is refused during a flood says so, and shows it after it', async () => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.customer));
    const { promise: refused, resolve } = Promise.withResolvers<() => Promise<void>>();
    const refuse = async (route: Route) => resolve(await refuseDuringFlood(route, t.origin));
    await page.route('**/session', refuse, { times: 1 });
    await page.reload();
    const stop = await refused;
    await expect.poll(() => page.getByRole('alert').innerText()).toContain('This page tries again in ');
    await stop();
    await page.getByRole('heading', { name: 'Subscriptions' }).waitFor();
    // The session is asked for while files are loading, which are refused too on a busy machine.
    expect(problemsWithoutRefusals()).toEqual([]);
  });

  test('an owner sees since when and why an endpoint fails, and sends again what failed', async () => {
    const options = { viewport: { width: 1280, height: 820 }, timezoneId: 'UTC' };
    const { page, requests } = await browser.open(t.origin, options);
    const link = await createPortalLink(t.customer);
    await follow(page, link);
    expect(new URL(page.url()).hash).toBe('');

    // Since when, why, and what to do.
    const subscription = page.locator('section', { hasText: 'CRM of the north' });
    await subscription.getByText('Failing', { exact: true }).waitFor();
    await expect.poll(() => subscription.innerText()).toMatch(/503 since .+ \(2 d/);
    expect(await subscription.innerText()).toContain(failed.advice);

    // The attempts of a delivery that failed.
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.getByLabel('Status').selectOption({ label: 'Failed' });
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByRole('heading', { name: 'order.placed' }).waitFor();
    await page.getByText(failed.advice).first().waitFor();
    // What was exchanged is shown: before that, the links below it move while they are clicked.
    await page.getByRole('link', { name: 'Verify the signature' }).waitFor();
    await page.getByRole('link', { name: 'Response', exact: true }).click();
    await page.locator('pre', { hasText: 'upstream connect error' }).waitFor();
    await page.getByText('server: edge-proxy').waitFor();

    // The secret of the receiver is the one that signed, and the receiver has changed the body.
    const { secret } = endpoint.subscription;
    await page.getByRole('link', { name: 'Verify the signature' }).click();
    const result = page.getByRole('status', { name: 'Result' });
    await page.getByLabel('Secret of the receiver').fill(secret);
    await page.getByRole('button', { name: 'Verify' }).click();
    await result.getByText('It was signed with the secret.').waitFor();
    await page.getByLabel('Secret of the receiver').fill(`whsec_${'canary'.repeat(7)}A=`);
    await page.getByRole('button', { name: 'Verify' }).click();
    await result.getByText('SIGNATURE_MISMATCH').first().waitFor();
    expect(await result.innerText()).toContain('The signature was made with another secret');
    const captured = endpoint.receiver.deliveries.findLast(({ headers }) => headers['webhook-id'] === failed.id);
    const { rawHeaders = [], body = '' } = captured ?? {};
    await page.getByLabel('Secret of the receiver').fill(`${secret}\nwhsec_${'canary'.repeat(7)}A=`);
    const pretty = JSON.stringify(JSON.parse(String(body)), null, 2);
    await page.getByLabel('Captured request').fill(JSON.stringify({ headers: rawHeaders, body: pretty }));
    await page.getByRole('button', { name: 'Verify' }).click();
    await result.getByText('BODY_WHITESPACE_CHANGED').waitFor();
    expect(await result.innerText()).toContain('It was signed with secret 1 of 2; what follows is wrong.');
    await screenshot(page, 'verify');
    await page.getByLabel('Captured request').fill(JSON.stringify({ headers: rawHeaders }));
    await page.getByLabel('Body', { exact: true }).fill(String(body));
    await page.getByRole('button', { name: 'Verify' }).click();
    await result.getByText('It was signed with secret 1 of 2.').waitFor();
    const kept: string = await page.evaluate(
      `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href, document.documentElement.outerHTML])`,
    );
    for (const typed of [secret, 'canarycanary']) expect(kept).not.toContain(typed);

    // The endpoint works again. Pending deliveries test it, even if its breaker stays open for minutes.
    endpoint.receiver.onDelivery = acknowledge;
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await subscription.getByRole('button', { name: 'Send pending now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send pending now' }).click();
    await expect.poll(() => t.sql('select from webhook_pending_delivery')).toEqual([]);
    await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Resend' }).click();
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Resends 3 deliveries. Takes a second or more.').waitFor();
    await page.getByRole('button', { name: 'Resend 3 deliveries' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend 3 deliveries' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    const rows = page.getByRole('row', { name: 'Delivered' });
    // Each load takes from the limit of the pages of a network.
    const interval = 2_000;
    const loaded = async () => {
      await page.reload();
      await page.getByRole('row').nth(1).waitFor();
      return rows.count();
    };
    await expect.poll(loaded, { interval }).toBe(4);

    // Only a log with every event proves that nothing is missing.
    const received = new Map(
      endpoint.receiver.deliveries.map(({ headers, body: bytes }) => [String(headers['webhook-id']), String(bytes)]),
    );
    const [[missingId, missingBody] = missing(), [alteredId] = missing(), ...others] = received;
    expect(others).toHaveLength(2);
    // Of the same millisecond, in another cell: the next id can be that of the next delivery.
    const unexpectedId = missingId.replace(/\d+$/, (number) => String(BigInt(number) ^ (1n << 12n)));
    const altered = JSON.stringify({ deliveryId: alteredId, body: { id: 'canarycanary' } });
    const log = [unexpectedId, altered, ...others.map(([, text]) => text), missingId.slice(0, 9), ''].join('\r\n');
    // Deliveries of the last minutes can be on their way.
    await page.clock.setFixedTime(Date.now() + 3_600_000);
    // Otherwise, the page of a busy machine reported that its session had ended.
    await page.reload();
    await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name: 'Resend' }).click();
    await page.getByRole('link', { name: 'Compare the log of your endpoint' }).click();
    await page.getByLabel('Log').fill(log);
    await page.getByLabel('To (').fill(new Date(Date.now() + 120_000).toISOString().slice(0, 16));
    await page.getByRole('button', { name: 'Compare' }).click();
    const compared = page.getByRole('region', { name: 'Result' });
    await compared.getByText('1 missing, 1 altered, 1 unexpected. This is no proof:').waitFor();
    expect(await compared.innerText()).toContain('1 line of the log could not be read. Line 5: ');
    expect(await compared.innerText()).toContain('can still wait for their sequence');
    expect(await problemsOf(page)).toEqual([]);
    const sent = endpoint.receiver.deliveries.length;
    await page.getByRole('button', { name: 'Resend 1 delivery' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resend 1 delivery' }).click();
    await page.getByText('1 delivery queued.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    const again = (await endpoint.receiver.waitFor(sent + 1)).at(-1);
    expect([again?.headers['webhook-id'], String(again?.body)]).toEqual([missingId, missingBody]);
    // The clock of the server follows that of the page.
    await page.route('**/graphql', async (route) => {
      const response = await route.fetch();
      const numberedUntil = new Date(Date.now() + 3_600_000).toISOString();
      const text = await response.text();
      await route.fulfill({ response, body: text.replace(/("numberedUntil":")[^"]+/, `$1${numberedUntil}`) });
    });
    const bodies = Buffer.concat(Array.from(received.values(), (text) => gzipSync(`${text}\n`)));
    await page.getByLabel('File').setInputFiles({ name: 'log.gz', mimeType: 'application/gzip', buffer: bodies });
    await page.getByRole('button', { name: 'Compare' }).click();
    await compared.getByText('Complete: 0 missing, 0 altered, 0 unexpected').waitFor();
    expect(await compared.innerText()).toContain('4 bodies compared as JSON.');
    await page.unroute('**/graphql');
    await page.clock.setSystemTime(Date.now());

    // A pin moves to a later version, once its effect was seen, and back.
    const newer = await subscribe(t.customer, {
      callbackUrl: endpoint.receiver.url,
      eventTypes: [{ type: 'order.placed' }, { type: 'api_key.created' }],
      name: 'Archive',
    });
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await page.reload();
    await page.getByRole('link', { name: 'Archive' }).click();
    await page.getByRole('row', { name: 'order.placed' }).getByRole('link', { name: 'Change' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = async (label: string) => {
      await page.getByRole('button', { name: label }).click();
      await dialog.getByRole('button', { name: label }).dblclick();
    };
    const before = endpoint.receiver.deliveries.length;
    const receivedVersions = () =>
      endpoint.receiver.deliveries
        .slice(before)
        .map(({ body: bytes }) => JSON.parse(bytes.toString()))
        .flatMap(({ type, version }) => (type === 'order.placed' ? [version] : []));
    const sendTest = async (versions: readonly string[]) => {
      await confirm('Send a test event');
      await dialog.getByRole('button', { name: 'Close' }).click();
      await expect.poll(receivedVersions).toEqual(versions);
      await page.reload();
    };
    await page.getByText('There is no event of this type to compare.').waitFor();
    await sendTest(['2026-11-01']);
    const changes = page.getByRole('group').first();
    await expect.poll(() => changes.innerText()).toMatch(/Removed\s+data\.orderId\s/);
    expect(await changes.innerText()).toMatch(/Added\s+data\.order\.id\s+–\s+"gid:/);
    expect(await problemsOf(page)).toEqual([]);
    await confirm('Change to 2027-02-01');
    await page.getByText('Changed: new deliveries use 2027-02-01.').waitFor();
    await page.getByRole('button', { name: 'Change back to 2026-11-01' }).waitFor();
    await sendTest(['2026-11-01', '2027-02-01']);
    await confirm('Change back to 2026-11-01');
    await page.getByRole('button', { name: 'Change to 2027-02-01' }).waitFor();
    expect(requests.filter((request) => operationOf(request, documents) === 'Update')).toHaveLength(2);
    const { webhookSubscription } = await t.customer.request<object & { webhookSubscription: object }, object>(
      parse('query ($id: ID!) { webhookSubscription(id: $id) { eventTypes { type version } } }'),
      { id: newer.id },
    );
    expect(webhookSubscription).toEqual({
      eventTypes: expect.arrayContaining(
        ['order.placed', 'api_key.created'].map((type) => ({ type, version: '2026-11-01' })),
      ),
    });

    // The audit log has each step, with the actor of the session.
    const env = { DATABASE_URL: await t.database.urlFor('operator') };
    const { stdout } = await callOperator(env, 'audit', 'list', '--limit', '50', '--json');
    for (const action of [
      'portal_link.create',
      'portal_session.start',
      'webhook_subscription.replay',
      'webhook_subscription.update',
    ])
      expect(stdout).toContain(action);
    expect(stdout).toContain('user-7');

    // The token is in the exchange only, and the browser never has a key.
    const token = new URL(link).hash.slice('#link='.length);
    const traffic = await trafficOf(requests);
    expect(traffic.filter((text) => text.includes(token)).map((text) => text.split('\n')[0])).toEqual(['POST']);
    for (const text of [t.accounts.customer.credential.apiKey, secret, 'canarycanary'])
      expect(traffic.filter((each) => each.includes(text))).toEqual([]);
    expect(requests.filter((request) => operationOf(request, documents) === 'Replay')).toHaveLength(2);
  });
});
