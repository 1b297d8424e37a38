import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callOperator } from '@deedwire/dev-environment/harness';
import { acknowledge, commandsOf, missing } from '@deedwire/testing';
import { useBrowser } from '@deedwire/testing/browser';
import { parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { succeed } from '../support/command.ts';
import {
  createPortalLink,
  type FailingEndpoint,
  follow,
  operationOf,
  pages,
  type PortalSystem,
  problemsOf,
  screenshot,
  startFailingEndpoint,
  startPortalSystem,
  trafficOf,
  visit,
} from '../support/portal.ts';
import { workspaceRoot } from '../support/workspace-copy.ts';

const browser = useBrowser('The portal');

let t: PortalSystem;
let endpoint: FailingEndpoint;
let documents: Record<string, string>;

/** The newest delivery that failed. */
let failed: { id: string; advice: string };

function pathsOf(): string[] {
  const [subscription, delivery] = [endpoint.subscription.id, failed.id].map((id) => id.split('/').at(-1));
  const ofSubscription = [`subscriptions/${subscription}`, `subscriptions/${subscription}/pin`];
  return ['', ...ofSubscription, 'deliveries', `deliveries/${delivery}`, 'recover'];
}

describe.skipIf(browser.isAbsent)('the pages of the portal', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    ({ documents } = JSON.parse(readFileSync(join(pages, 'documents.json'), 'utf8')));
    endpoint = await startFailingEndpoint(t);
    const { webhookDeliveries } = await t.partner.request<
      { webhookDeliveries: { nodes: { id: string; attempts: { advice: string }[] }[] } },
      object
    >(parse('{ webhookDeliveries(status: FAILED) { nodes { id attempts { advice } } } }'), {});
    const [{ id, attempts } = missing()] = webhookDeliveries.nodes;
    failed = { id, advice: attempts[0]?.advice ?? missing() };
  });
  afterAll(async () => {
    await endpoint.receiver.close();
    await t.close();
  });

  test('each can be used by everybody, on a wide and a narrow screen, in light and dark', async () => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.partner));
    for (const path of pathsOf()) {
      await visit(page, path);
      for (const [screen, width, height] of [
        ['wide', 1280, 820],
        ['narrow', 320, 640],
      ] as const) {
        await page.setViewportSize({ width, height });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const shown = `${path.replace(/\/\d+/, '-page').replace('/', '-') || 'home'}-${screen}-${colorScheme}`;
          expect({ shown, problems: await problemsOf(page) }).toEqual({ shown, problems: [] });
          await screenshot(page, shown);
        }
      }
    }
  });

  test('the program of docs/portal.md creates a link', async () => {
    const [program = ''] = commandsOf(
      readFileSync(join(workspaceRoot, 'docs/portal.md'), 'utf8'),
      'Links from your backend',
      1,
    );
    const { clientId: CLIENT_ID, apiKey: API_KEY, organizationId: ORGANIZATION_ID } = t.accounts.partner.credential;
    const env = { DEEDWIRE_URL: t.urls.partner, CLIENT_ID, API_KEY, ORGANIZATION_ID };
    const link = await succeed('node', ['--input-type=module', '--eval', program], { cwd: workspaceRoot, env });
    const { page } = await browser.open(t.origin);
    await follow(page, link.trim());
    expect(await page.getByRole('banner').innerText()).toContain('user-4711');
  });

  test('a session that may only read is offered no change, and can make none', async () => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.partner, ['READ']));
    for (const path of pathsOf()) {
      await visit(page, path);
      const buttons = await page.getByRole('main').getByRole('button').allInnerTexts();
      expect(buttons.filter((label) => !['Find', 'Filter', 'Copy'].includes(label))).toEqual([]);
    }
    const base = new URL(page.url()).pathname.replace(/recover.*/, '');
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

  test('an owner sees since when and why an endpoint fails, and sends again what failed', async () => {
    const { page, requests } = await browser.open(t.origin, { viewport: { width: 1280, height: 820 } });
    const link = await createPortalLink(t.partner);
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
    await page.getByRole('heading', { name: 'referral.created' }).waitFor();
    await page.getByText(failed.advice).first().waitFor();
    await page.getByRole('link', { name: 'Response', exact: true }).click();
    await page.getByText('upstream connect error').waitFor();
    await page.getByText('server: edge-proxy').waitFor();

    // The endpoint works again.
    endpoint.receiver.onDelivery = acknowledge;
    await page.getByRole('link', { name: 'Recover', exact: true }).click();
    await page.getByRole('button', { name: 'Count' }).click();
    await page.getByText('3 deliveries would be sent again').waitFor();
    await page.getByRole('button', { name: 'Send 3 deliveries again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send 3 deliveries again' }).click();
    await page.getByText('Completed', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    const rows = page.getByRole('row', { name: 'Delivered' });
    await expect
      .poll(async () => {
        await page.reload();
        await page.getByRole('row').nth(1).waitFor();
        return rows.count();
      })
      .toBe(4);

    // A pin moves to a later version, once its effect was seen, and back.
    await page.getByRole('link', { name: 'Subscriptions', exact: true }).click();
    await page.getByRole('link', { name: 'CRM of the north' }).click();
    await page.getByRole('row', { name: 'referral.converted' }).getByRole('link', { name: 'Move' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = async (label: string) => {
      await page.getByRole('button', { name: label }).click();
      await dialog.getByRole('button', { name: label }).dblclick();
    };
    const receivedVersions = () =>
      endpoint.receiver.deliveries
        .map(({ body }) => JSON.parse(body.toString()))
        .flatMap(({ type, version }) => (type === 'referral.converted' ? [version] : []));
    const sendTest = async (versions: readonly string[]) => {
      await confirm('Send a test event');
      await dialog.getByRole('button', { name: 'Close' }).click();
      await expect.poll(receivedVersions).toEqual(versions);
      await page.reload();
    };
    await page.getByText('There is no event of this type to compare.').waitFor();
    await sendTest(['2026-11-01']);
    const compared = page.getByRole('group').first();
    await expect.poll(() => compared.innerText()).toMatch(/Removed\s+data\.referralId\s/);
    expect(await compared.innerText()).toMatch(/Added\s+data\.matter\.reference\s+–\s+"M-2026-/);
    expect(await problemsOf(page)).toEqual([]);
    await confirm('Move to 2027-02-01');
    await page.getByRole('button', { name: 'Move back to 2026-11-01' }).waitFor();
    await sendTest(['2026-11-01', '2027-02-01']);
    await confirm('Move back to 2026-11-01');
    await page.getByRole('button', { name: 'Move to 2027-02-01' }).waitFor();
    expect(requests.filter((request) => operationOf(request, documents) === 'Update')).toHaveLength(2);
    const { webhookSubscription } = await t.partner.request<object & { webhookSubscription: object }, object>(
      parse('query ($id: ID!) { webhookSubscription(id: $id) { eventTypes { type version } } }'),
      { id: endpoint.subscription.id },
    );
    const [created, converted] = ['referral.created', 'referral.converted'];
    expect(webhookSubscription).toEqual({
      eventTypes: expect.arrayContaining([created, converted].map((type) => ({ type, version: '2026-11-01' }))),
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
    for (const secret of [t.accounts.partner.credential.apiKey, endpoint.subscription.secret])
      expect(traffic.filter((text) => text.includes(secret))).toEqual([]);
    expect(requests.filter((request) => operationOf(request, documents) === 'Replay')).toHaveLength(2);
  });
});
