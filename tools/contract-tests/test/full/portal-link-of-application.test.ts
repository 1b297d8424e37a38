import { useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow, type PortalSystem, startPortalSystem } from '../support/portal.ts';

const browser = useBrowser('A link of an application to the portal');

let t: PortalSystem;

beforeAll(async () => {
  if (browser.isAbsent) return;
  t = await startPortalSystem();
  await t.sql(
    `select create_account('customer', 'c-1', 'Tea house', gid('Organization', min(id)::text)) from organization`,
  );
});

afterAll(() => t?.close());

/** The URL of the interface, and what the function returns. */
async function createLink(parameters = ''): Promise<string> {
  const [row] = await t.sql(`select create_portal_link('customer', 'c-1', 'user-1'${parameters}) as path`);
  return `${t.origin}/customer/${String(row?.['path'])}`;
}

describe.skipIf(browser.isAbsent)('a link that an application creates by SQL', () => {
  test('opens the portal of its account, once', async () => {
    const link = await createLink();
    const { page } = await browser.open(t.origin);
    await follow(page, link);
    const banner = await page.getByRole('banner').innerText();
    expect(banner).toContain('Tea house');
    expect(banner).toContain('user-1');
    const { page: other } = await browser.open(t.origin);
    await other.goto(link);
    await other.getByRole('button', { name: 'Open the portal' }).click();
    await other.getByRole('heading', { name: 'This link no longer works' }).waitFor();
  });

  test('leads back to the application, and offers what its abilities allow', async () => {
    const link = await createLink(`, array['READ'], 'https://shop.example/webhooks'`);
    const { page } = await browser.open(t.origin);
    await follow(page, link);
    expect(await page.locator('a[href="https://shop.example/webhooks"]').count()).toBe(1);
    expect(await page.getByRole('banner').innerText()).toContain('user-1 (read)');
  });
});
