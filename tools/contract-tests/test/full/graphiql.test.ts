import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startSystem, type System } from '@deedwire/dev-environment';
import { createHarness, type Harness } from '@deedwire/dev-environment/harness';
import { credentialHeaders, findProgram } from '@deedwire/testing';
import { type Browser, launch } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workspaceRoot } from '../support/workspace-copy.ts';

const executablePath = findProgram('chromium', 'chromium-browser', 'google-chrome');
const skipped = executablePath === undefined && process.env['CI'] !== 'true';
if (skipped) process.stdout.write('GraphiQL: skipping the browser test, Chromium is not on the PATH\n');

/** Guards against hanging only. */
const timeout = 120_000;

let harness: Harness;
let system: System;
let browser: Browser;

describe.skipIf(skipped)('GraphiQL in a browser', () => {
  beforeAll(async () => {
    if (executablePath === undefined) throw new Error('Chromium is not on the PATH.');
    harness = await createHarness();
    const { database, accounts } = harness;
    const headersOf = (name: 'lender' | 'partner') => ({
      GRAPHIQL_HEADERS: JSON.stringify(credentialHeaders(accounts[name].credential)),
    });
    system = await startSystem({
      databaseUrls: {
        'lender-api': await database.urlFor('lender_api'),
        'partner-api': await database.urlFor('partner_api'),
        'webhook-worker': await database.urlFor('webhook_worker'),
      },
      appEnv: { 'lender-api': headersOf('lender'), 'partner-api': headersOf('partner') },
    });
    browser = await launch({ executablePath, args: ['--no-sandbox', '--disable-background-networking'] });
  });

  afterAll(async () => {
    await browser.close();
    await system.stop();
    await harness.close();
  });

  test('runs operations of both interfaces, at a version that is chosen', async () => {
    for (const [name, version] of [
      ['partner', '2026-11-01'],
      ['lender', '2027-02-01'],
    ] as const) {
      const { url } = system.apps[`${name}-api`];
      const page = await browser.newPage();
      await page.setViewport({ width: 1400, height: 800 });
      const hosts = new Set<string>();
      const versions = new Set<string | undefined>();
      page.on('request', (request) => {
        if (request.url().startsWith('http')) hosts.add(new URL(request.url()).host);
      });
      page.on('response', (response) => {
        if (response.request().method() === 'POST') versions.add(response.headers()['x-service-schema-version']);
      });
      const untilCostMatches = (pattern: RegExp) =>
        page.waitForFunction(`${String(pattern)}.test(document.querySelector('#cost')?.textContent)`, { timeout });

      await page.goto(`${url}/${name}s/graphql?query=${encodeURIComponent(`{ ${name} { id name } }`)}`, { timeout });
      // The page has read the schema of the version of the client.
      await untilCostMatches(/^Cost: /);
      expect(versions).toEqual(new Set(['2026-11-01']));

      versions.clear();
      await Promise.all([page.waitForNavigation({ timeout }), page.select('label select', version)]);
      await untilCostMatches(/^Cost: /);
      await page.click('.graphiql-execute-button');
      await page.waitForFunction(`document.querySelector('.graphiql-response')?.textContent.includes('"name":')`, {
        timeout,
      });
      await untilCostMatches(/^Cost: requested \d, charged \d; \d+ points are left$/);
      expect(versions).toEqual(new Set([version]));
      // The page loads nothing from elsewhere.
      expect(hosts).toEqual(new Set([new URL(String(url)).host]));

      await mkdir(join(workspaceRoot, 'test-results'), { recursive: true });
      await page.screenshot({ path: join(workspaceRoot, 'test-results', `graphiql-${name}.png`) });
      await page.close();
    }
  });
});
