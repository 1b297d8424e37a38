import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postGraphql } from '@deedwire/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveSite } from '../../src/documentation.ts';
import { packageManagerCommand, workspaceRoot } from '../../src/workspace.ts';
import { newDevHome } from '../dev-process.ts';

let site: Awaited<ReturnType<typeof serveSite>>;
beforeAll(async () => {
  // It fails if a link has no target.
  await promisify(execFile)('sh', ['-c', `${packageManagerCommand} site --build`], { cwd: workspaceRoot });
  site = await serveSite(0);
});
afterAll(() => site.close());

async function read(path: string): Promise<string> {
  const response = await fetch(new URL(path, site.url));
  return `${response.status} ${await response.text()}`;
}

test.each([
  ['/', 'href="/docs/"'],
  ['/docs/errors.html', 'id="rate_limited"'],
  ['/docs/reference/lender/2026-11-01.html', 'id="query-lender"'],
  ['/docs/reference/lender/2026-11-01.html', 'id="lender.name"'],
  ['/docs/reference/webhooks/referral.created/2026-11-01.html', 'id="body.id"'],
  ['/docs/reference/webhooks/findings.html', 'id="body_trimmed"'],
  ['/docs/webhook-did-not-arrive.html', 'id="3-see-why-it-is-late-or-what-came-back.RETRY_AFTER"'],
  ['/packages/webhook-receiver/', 'href="/packages/webhook-receiver/docs/stores.html#postgresql"'],
  ['/docs/performance.html', 'src="/assets/queries.'],
])('%s contains %s', async (path, part) => {
  const page = await read(path);
  expect(page.slice(0, 4)).toBe('200 ');
  expect(page).toContain(part);
});

test('has a search index', () => {
  const files = readdirSync(join(workspaceRoot, 'site/dist/assets/chunks'));
  expect(files.some((name) => name.includes('localSearchIndex'))).toBe(true);
});

test('has the files that pages link to, and the pages at their paths in the repository', async () => {
  expect(await read('/packages/lender-schema/versions/2026-11-01.graphql')).toContain('type Lender {');
  expect(await read('/docs/errors.md')).toContain("location.replace('../errors.html' + location.hash)");
});

test('serves nothing else', async () => {
  for (const path of ['/package.json', '/..%2f..%2fpackage.json', '/docs/'.repeat(2)])
    expect((await read(path)).slice(0, 4)).toBe('404 ');
});

test('`pnpm dev` serves it, and errors link to it', async () => {
  const home = await newDevHome();
  const dev = home.start();
  const { partner } = await home.whenReady(dev);
  const { body } = await postGraphql(partner.url, partner, { query: '{ nothing }' });
  const url = body.errors?.[0]?.extensions.documentationUrl ?? '';
  expect(dev.output()).toContain(`Serving the documentation at ${url.replace(/errors\.md#.*$/, '')}\n`);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/docs\/errors\.md#graphql_validation_failed$/);
  expect((await fetch(url)).status).toBe(200);
});
