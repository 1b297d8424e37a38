import { issueCredential } from '@deedwire/actions';
import { abilities } from '@deedwire/core';
import { callOperator } from '@deedwire/dev-environment/harness';
import { createClient, eventually, missing } from '@deedwire/testing';
import { type Page, useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createPortalLink,
  follow,
  type PortalSystem,
  problemsOf,
  screenshot,
  startPortalSystem,
} from '../support/portal.ts';

const browser = useBrowser('The portal');

let t: PortalSystem;
let env: Record<string, string>;

const operate = (...given: string[]) => callOperator(env, ...given);

async function invite(...options: string[]): Promise<{ url: string; clientId: string }> {
  const account = ['--account', t.accounts.customer.id, '--origin', t.origin];
  const { stdout, stderr } = await operate('credential', 'invite', ...account, ...options, '--json');
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

async function openInvite(...options: string[]): Promise<{ page: Page; clientId: string }> {
  const { url, clientId } = await invite(...options);
  const { page } = await browser.open(t.origin, {
    viewport: { width: 1280, height: 820 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  await page.goto(url);
  await page.getByRole('button', { name: 'Open the portal' }).click();
  await page.getByRole('heading', { name: 'Keys' }).waitFor();
  return { page, clientId };
}

const dialogOf = (page: Page) => page.getByRole('dialog');

/** Confirms a dialog, and returns the key that it shows. */
async function takeSecret(page: Page, label: string): Promise<string> {
  await dialogOf(page).getByRole('button', { name: label }).click();
  await dialogOf(page).getByText('Store the key now: it is not shown again.').waitFor();
  return (await dialogOf(page).locator('pre').first().innerText()).trim();
}

async function create(page: Page, name: string, chosen: readonly string[] = []): Promise<string> {
  await page.getByRole('button', { name: 'Create a key' }).click();
  await dialogOf(page).getByLabel('Name').fill(name);
  for (const ability of chosen) await dialogOf(page).getByLabel(ability, { exact: true }).check();
  return takeSecret(page, 'Create a key');
}

/** Whether a page has a text anywhere, including in what the browser keeps of it. */
async function has(page: Page, text: string): Promise<boolean> {
  const all: string = await page.evaluate(`[
    document.documentElement.outerHTML, document.title, location.href, JSON.stringify(history.state),
    JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie,
  ].join('\\n')`);
  return all.includes(text);
}

/** The status of a request of a program with a key. */
async function statusOf(apiKey: string, clientId: string): Promise<number> {
  const headers = {
    'Content-Type': 'application/json',
    'X-Service-Client-Id': clientId,
    'X-Service-API-Key': apiKey,
    'X-Service-Organization-Id': t.accounts.customer.credential.organizationId,
  };
  const body = JSON.stringify({ query: '{ webhookSubscriptions { nodes { id } } }' });
  return (await fetch(t.urls.customer, { method: 'POST', headers, body })).status;
}

/** On both screens and in both color schemes, but not in each pair of them. */
async function look(page: Page, name: string): Promise<void> {
  for (const [screen, width, height, colorScheme] of [
    ['narrow', 320, 640, 'dark'],
    ['wide', 1280, 820, 'light'],
  ] as const) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    expect({ name, screen, problems: await problemsOf(page) }).toEqual({ name, screen, problems: [] });
    await screenshot(page, `${name}-${screen}-${colorScheme}`);
  }
}

describe.skipIf(browser.isAbsent)('the page of keys', () => {
  beforeAll(async () => {
    t = await startPortalSystem();
    env = { DATABASE_URL: await t.database.urlFor('operator'), OPERATOR_NAME: 'ada' };
  });
  afterAll(() => t.close());

  test('creates the first key of an invite, whose secret is shown once', async () => {
    const { page, clientId } = await openInvite();
    await page.getByText('There is no key yet that is accepted.').waitFor();
    expect(new URL(page.url()).hash).toBe('');
    await look(page, 'keys-empty');
    await page.getByRole('button', { name: 'Create a key' }).click();
    const dialog = dialogOf(page);
    await dialog.getByLabel('Name').fill('importer of the north');
    await dialog.getByLabel('Configure', { exact: true }).check();
    await dialog.getByLabel('Addresses').fill('127.0.0.1\n192.0.2.1/24');
    await dialog.getByRole('button', { name: 'Create a key' }).click();
    const error = dialog.locator('.field', { has: page.getByRole('alert') });
    await error.getByText('does not begin with the first address').waitFor();
    expect(await dialog.getByRole('group').getByRole('alert').innerText()).toContain('READ_PAYLOAD');
    await look(page, 'keys-create');
    await dialog.getByLabel('Read payload', { exact: true }).check();
    await dialog.getByLabel('Addresses').fill('127.0.0.1\n192.0.2.0/24');
    const secret = await takeSecret(page, 'Create a key');
    expect(secret).toMatch(/^dw_customer_/);
    expect(await dialog.innerText()).toContain(`X-Service-Client-Id: ${clientId}`);
    expect(await dialog.innerText()).toContain(t.accounts.customer.credential.organizationId);
    await dialog.getByRole('button', { name: 'Copy' }).click();
    await dialog.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await look(page, 'keys-secret');
    expect(await statusOf(secret, clientId)).toBe(200);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.locator('dialog').waitFor({ state: 'detached' });
    expect(await has(page, secret)).toBe(false);
    const shown = page.getByRole('region', { name: 'importer of the north' });
    // The use is recorded after the response.
    await expect.poll(() => shown.innerText()).toMatch(/ago\s+from 127\.0\.0\.1, version 2026-11-01/);
    expect(await shown.innerText()).toMatch(
      /Read, Read payload, Configure[^]*192\.0\.2\.0\/24[^]*an invite of an operator/,
    );
    await look(page, 'keys');
  });

  test('rotates and revokes a key, and forgets a secret with the page that shows it', async () => {
    const { page, clientId } = await openInvite();
    const first = await create(page, 'first', ['Manage keys']);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Deliveries' }).click();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    await page.getByRole('link', { name: 'Keys' }).click();
    // With the keyboard.
    await page.getByRole('button', { name: 'Rotate' }).focus();
    await page.keyboard.press('Enter');
    const dialog = dialogOf(page);
    await dialog.getByText(/The old key ends in (?:1 d|23 h 59 min), at/).waitFor();
    await dialog.getByLabel('The old key is accepted for').selectOption({ label: '1 hour' });
    await dialog.getByText(/The old key ends in (?:1 h|59 min 5\d s), at/).waitFor();
    await look(page, 'keys-rotate');
    const second = await takeSecret(page, 'Rotate');
    expect([await statusOf(first, clientId), await statusOf(second, clientId)]).toEqual([200, 200]);
    await page.goBack();
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    expect(await has(page, second)).toBe(false);
    await page.goForward();
    await page.getByRole('heading', { name: 'first' }).first().waitFor();
    expect(await has(page, second)).toBe(false);

    const old = page.getByRole('region', { name: 'first' }).filter({ hasText: first.split('_')[2] ?? missing() });
    await old.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('Requests with it are refused within a second.').waitFor();
    await look(page, 'keys-revoke');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('first is no longer accepted.').waitFor();
    expect(await page.evaluate('document.activeElement.innerText')).toContain('first is no longer accepted.');
    await expect.poll(() => statusOf(first, clientId)).toBe(401);
    await page.getByRole('heading', { name: 'Ended keys' }).waitFor();
    await look(page, 'keys-ended');
    await page.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await dialog.getByText('No other key with Manage keys would be left.').waitFor();
  });

  test('a rotation without overlap shows the secret until its dialog is closed', async () => {
    const { page, clientId } = await openInvite();
    const first = await create(page, 'CRM', ['Manage keys']);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Rotate' }).click();
    await dialogOf(page).getByLabel('The old key is accepted for').selectOption('0');
    const second = await takeSecret(page, 'Rotate');
    await eventually(async () => expect(await statusOf(first, clientId)).toBe(401));
    // Once the list has been read again, it has the successor.
    await page.locator('section[aria-label="CRM"]').nth(1).waitFor({ state: 'attached' });
    expect(await dialogOf(page).innerText()).toContain(second);
    await dialogOf(page).getByRole('button', { name: 'Close' }).click();
    await page.getByText('CRM is no longer accepted.').waitFor();
    await page.getByRole('heading', { name: 'Ended keys' }).waitFor();
    expect(await statusOf(second, clientId)).toBe(200);
  });

  test('has no secret once the browser puts the page away, or the session has ended', async () => {
    const { page } = await openInvite();
    const kept = await create(page, 'a');
    expect(await has(page, kept)).toBe(true);
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
    expect(await has(page, kept)).toBe(false);
    await dialogOf(page).getByText('If you did not store it, rotate it.').waitFor();
    await page.keyboard.press('Escape');
    const secret = await create(page, 'b');
    const [session] = JSON.parse((await operate('portal', 'session', 'list', '--json')).stdout);
    await operate('portal', 'session', 'revoke', session.id);
    await page.getByRole('heading', { name: 'There is no session' }).waitFor();
    expect(await has(page, secret)).toBe(false);
  });

  test('says that a key whose secret did not arrive has to be rotated', async () => {
    const { page } = await openInvite();
    let isLost = false;
    await page.route('**/graphql', async (route) => {
      if (isLost || !route.request().postData()?.includes('idempotencyKey')) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialogOf(page).getByLabel('Name').fill('lost');
    await dialogOf(page).getByRole('button', { name: 'Create a key' }).click();
    await dialogOf(page).getByText('No response arrived.').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Create a key' }).click();
    await dialogOf(page).getByText('If you did not receive it, rotate the key.').waitFor();
    await page.keyboard.press('Escape');
    // Without a change, the list would be read every 30 seconds.
    const rotate = page.getByRole('region', { name: 'lost' }).getByRole('button', { name: 'Rotate' });
    await rotate.waitFor({ timeout: 25_000 });
    expect(await page.getByRole('heading', { name: 'lost' }).count()).toBe(1);
  });

  test('gives no more than the session of a link has', async () => {
    const credential = await issueCredential(t.operator, {
      accountId: t.accounts.customer.id,
      clientId: null,
      abilities,
    });
    const owner = createClient(t.urls.customer, credential);
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(owner, ['READ', 'OPERATE', 'MANAGE_KEYS']));
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByText('To rotate it, a session has to give Read payload, Configure, Write too.').waitFor();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialogOf(page).getByText('You cannot give Read payload, Configure, Write.').waitFor();
    expect(await dialogOf(page).getByRole('checkbox').count()).toBe(3);
    await dialogOf(page).getByLabel('Name').fill('a');
    await dialogOf(page).getByLabel('Operate', { exact: true }).check();
    await takeSecret(page, 'Create a key');
    await page.keyboard.press('Escape');
    await page.getByText('in the portal by user-7').waitFor();
  });

  test('is not offered to a session without MANAGE_KEYS', async () => {
    const { page } = await browser.open(t.origin);
    await follow(page, await createPortalLink(t.customer));
    expect(await page.getByRole('link', { name: 'Keys' }).count()).toBe(0);
    await page.goto(`${page.url()}keys`);
    await page.getByText('You cannot manage API keys.').waitFor();
  });

  test('needs no sideways scrolling when only its text is enlarged to 400 %', async () => {
    const { page } = await openInvite();
    await create(page, 'a');
    await page.keyboard.press('Escape');
    const enlarge = `{
      const elements = Array.from(document.querySelectorAll('body, body *'));
      const sizes = elements.map((each) => 4 * parseFloat(getComputedStyle(each).fontSize) + 'px');
      for (const [at, each] of elements.entries()) each.style?.setProperty('font-size', sizes[at]);
    }`;
    await page.evaluate(enlarge);
    expect(await problemsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 3000 });
    await screenshot(page, 'keys-enlarged');
  });
});
