import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { useBrowser } from '@deedwire/testing/browser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serveSite } from '../../../src/documentation.ts';
import { packageManagerCommand, workspaceRoot } from '../../../src/workspace.ts';

const browser = useBrowser('The site');
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
  ['/docs/reference/lender/2026-11-01/query-lender.html', 'id="query-lender"'],
  ['/docs/reference/lender/2026-11-01/query-lender.html', 'id="lender.name"'],
  ['/docs/reference/lender/2026-11-01.types.html', 'id="webhookdelayreason.RETRY_AFTER"'],
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

const folder = join(workspaceRoot, 'site/dist');

test('each link leads to a file and an anchor', () => {
  const files = new Set(globSync('**/*', { cwd: folder }));
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  );
  const broken = [...pages].flatMap(([file, page]) =>
    [...page.matchAll(/<a [^>]*?href="([^"]*)"/g)].flatMap(([, href = '']) => {
      const { origin, pathname, hash } = new URL(href.replaceAll('&amp;', '&'), `http://site/${file}`);
      const target = `${decodeURIComponent(pathname.slice(1))}${pathname.endsWith('/') ? 'index.html' : ''}`;
      const id = decodeURIComponent(hash.slice(1)).replaceAll('&', '&amp;');
      const isBroken = !files.has(target) || (id !== '' && pages.get(target)?.includes(` id="${id}"`) === false);
      return origin === 'http://site' && (href === '#' || isBroken) ? [`${file}: ${href}`] : [];
    }),
  );
  expect(broken).toEqual([]);
});

/** The relative links of Markdown in the site that lead to no file. */
function brokenLinks(file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8').replaceAll(/^ *```.*?^ *```$|`[^`\n]+`/gms, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].flatMap(([, link, source]) => {
    const { origin, pathname } = new URL(link ?? source ?? '', `http://site/${file}`);
    const isBroken =
      origin === 'http://site' && statSync(join(folder, pathname), { throwIfNoEntry: false })?.isFile() !== true;
    return isBroken ? [`${file}: ${link ?? source}`] : [];
  });
}

test('each page has its Markdown, whose links lead to files', () => {
  const pages = globSync('**/*.html', { cwd: folder }).filter((file) => !/^404|\.md\/index/.test(file));
  expect(pages.filter((page) => !existsSync(join(folder, `${page}.md`)))).toEqual([]);
  expect(pages.flatMap((page) => brokenLinks(`${page}.md`))).toEqual([]);
});

test('llms.txt has a line for each link of the lists of pages', () => {
  const [head = '', ...sections] = readFileSync(join(folder, 'llms.txt'), 'utf8').split('\n\n## ');
  expect(head).toMatch(/^# Deedwire\n\n> Deedwire is .+$/);
  const lines = sections.flatMap((section) => section.trim().split('\n').slice(2));
  expect(lines.filter((line) => !/^- \[[^\]]+\]\([^)]+\.html\.md(?:#[\w-]+)?\): ./.test(line))).toEqual([]);
  const lists = readFileSync(join(workspaceRoot, 'docs/README.md'), 'utf8').match(/^- .*$/gm) ?? [];
  // A line has several pages before its first colon.
  expect(lines.length).toBe(lists.flatMap((line) => line.split(': ')[0]?.match(/\]\(/g) ?? []).length);
  expect(brokenLinks('llms.txt')).toEqual([]);
});

test('serves Markdown as such', async () => {
  const response = await fetch(new URL('/docs/errors.html.md', site.url));
  expect(response.headers.get('Content-Type')).toBe('text/markdown; charset=utf-8');
  expect(await response.text()).toMatch(/^# Errors\n/);
});

describe.skipIf(browser.isAbsent)('in a browser', () => {
  test.each([
    '/docs/reference/partner/2026-11-01.html',
    '/docs/reference/partner/2026-11-01/mutation-createReferral.html',
    '/docs/reference/webhooks/referral.created/2026-11-01.html',
  ])('shows each column of the tables of %s beside the lists of pages and headings', async (path) => {
    const { page } = await browser.open(site.url, { viewport: { width: 1280, height: 900 } });
    await page.goto(path);
    const hidden = await page
      .locator('main table')
      .evaluateAll((tables) => tables.filter((table) => table.scrollWidth > table.clientWidth).map(String));
    expect(hidden).toEqual([]);
  });

  test('the search finds error codes, codes of tables, fields, event versions and findings', async () => {
    const { page } = await browser.open(site.url);
    await page.goto('/', { waitUntil: 'networkidle' });
    for (const [words, target] of [
      ['RATE_LIMITED', '/docs/errors.html#rate_limited'],
      ['RETRY_AFTER', '/docs/reference/lender/2026-11-01.types.html#webhookdelayreason'],
      ['lender.name', '/docs/reference/lender/2026-11-01/query-lender.html#lender'],
      ['createReferral', '/docs/reference/partner/2026-11-01/mutation-createReferral.html#mutation-createreferral'],
      [
        'referral.created 2026-11-01',
        '/docs/reference/webhooks/referral.created/2026-11-01.html#referralcreated-2026-11-01',
      ],
      ['BODY_TRIMMED', '/docs/reference/webhooks/findings.html#body_trimmed'],
    ] as const) {
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('searchbox').fill(words);
      const results = page.locator('.results a.result');
      const result = page.locator(`.results a[href="${target}"]`);
      await result.waitFor();
      const links = await results.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(links.indexOf(target)).toBeLessThan(3);
      await result.click();
      await page.waitForURL(`**${target}`);
      const section = page.locator(`[id="${target.split('#')[1]}"]`);
      await expect.poll(async () => (await section.boundingBox())?.y).toBeLessThan(200);
    }
  });

  test.each(['light', 'dark'] as const)('draws pictures that fit a narrow %s page', async (colorScheme) => {
    const { page } = await browser.open(site.url, { colorScheme, viewport: { width: 320, height: 600 } });
    await page.goto('/ARCHITECTURE.html');
    const picture = page.locator('main svg', { hasText: 'one log line and the metrics' });
    expect((await picture.boundingBox())?.width).toBe(272);
    const color = await picture.locator('text').first().evaluate('(text) => getComputedStyle(text).fill');
    expect(color).toBe(await page.locator('main p').first().evaluate('(text) => getComputedStyle(text).color'));
  });
});

test('has the files that pages link to, and the pages at their paths in the repository', async () => {
  expect(await read('/packages/lender-schema/versions/2026-11-01.graphql')).toContain('type Lender {');
  expect(await read('/LICENSE')).toContain('Apache License');
  expect(await read('/docs/errors.md')).toContain("location.replace('../errors.html' + location.hash)");
});

test('serves nothing else', async () => {
  for (const path of ['/package.json', '/..%2f..%2fpackage.json', '/docs/'.repeat(2)])
    expect(await read(path)).toMatch(/^404 .*<title>404 \| Deedwire/s);
});
