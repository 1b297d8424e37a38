/** The pages of this repository as a site: `pnpm site`. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { renderMermaidSVG } from 'beautiful-mermaid';
import { anchor } from '../../tools/generate/src/reference/markdown.ts';

const root = join(import.meta.dirname, '../..');

/** Files that pages link to and that are no pages, for example SDL. The site contains copies. */
const files = new Set<string>();

/** Where a relative link of a page leads on the site. Null for a folder without a page. */
function resolveLink(page: string, href: string): { href: string; isFile: boolean } | null {
  const [path = '', hash] = href.split('#');
  let target = join(dirname(page), path);
  if (existsSync(join(root, target, 'README.md'))) target = join(target, 'README.md');
  const isPage = target.endsWith('.md');
  if (!isPage && !/\w\.\w+$|LICENSE$/.test(target)) return null;
  if (!isPage) files.add(target);
  return { href: `/${pathOf(target)}${hash === undefined ? '' : `#${hash}`}`, isFile: !isPage };
}

function pathOf(page: string): string {
  return page.replace(/\bREADME\.md$/, 'index.md');
}

// What this file uses of markdown-it and VitePress, which only `pnpm site` installs: `check` needs the types.
interface Token {
  type: string;
  info: string;
  content: string;
  children: Token[] | null;
  attrs: [string, string][] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface StateCore {
  tokens: Token[];
  env: { path: string; realPath?: string };
}

interface Markdown {
  core: { ruler: { push(name: string, rule: (state: StateCore) => void): void } };
}

function resolveLinks({ tokens, env }: StateCore): void {
  const page = relative(root, env.realPath ?? env.path);
  // Otherwise the site would look for a package.
  for (const token of tokens) token.content = token.content.replaceAll(/(<img [^>]*src=")(?=\w+\/)/g, '$1./');
  for (const token of tokens.flatMap(({ children }) => children ?? [])) {
    const href = token.type === 'link_open' ? token.attrGet('href') : null;
    if (href === null || /^(?:\w+:|#)/.test(href)) continue;
    const link = resolveLink(page, href);
    // A folder without a page: the text alone.
    if (link === null) token.attrs = [['style', 'all: unset']];
    else token.attrSet('href', link.href);
    // Otherwise the site would look for a page.
    if (link?.isFile === true) token.attrSet('target', '_self');
  }
}

/** Draws the pictures when the site is built, in the colors of the page: no script of a reader does. */
function drawPictures({ tokens }: StateCore): void {
  for (const token of tokens.filter(({ info }) => info === 'mermaid')) {
    const colors = { bg: 'var(--vp-c-bg)', fg: 'var(--vp-c-text-1)', muted: 'var(--vp-c-text-2)' };
    const svg = renderMermaidSVG(token.content, { ...colors, transparent: true, padding: 4, layerSpacing: 24 })
      // A font that the site has.
      .replace(/@import .*/, '')
      .replace('style="', 'style="max-width: 100%; height: auto; margin: auto; ');
    token.type = 'html_block';
    // A template of Vue cannot contain `<style>`.
    token.content = `<div v-html="${escape(JSON.stringify(svg))}"></div>\n`;
  }
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Lets long names in tables break between their words, so that the other columns stay on a page. */
function breakNames({ tokens }: StateCore): void {
  let isTable = false;
  for (const { type, children } of tokens) {
    if (type.startsWith('table_')) isTable = type === 'table_open';
    if (!isTable) continue;
    for (const child of children ?? []) {
      if (child.type !== 'code_inline') continue;
      child.type = 'html_inline';
      child.content = codeWithBreaks(child.content);
    }
  }
}

/** Breaks `gid://<namespace>/Order`, `order.paid`, `RETRY_AFTER` and `OrderConnection` before each word but the first. */
function codeWithBreaks(text: string): string {
  const isShort = text.length < 18;
  const words = isShort ? [text] : text.split(/(?<=[/_.-])(?=[\w<])|(?<=[a-z\d])(?=[A-Z])/);
  return `<code v-pre>${words.map(escape).join('<wbr>')}</code>`;
}

/** What comes before the first words of a row of a table, and of an item of a list. */
const openings: Readonly<Record<string, string>> = { tr_open: 'td_open', list_item_open: 'paragraph_open' };

/**
 * Gives each row of a table that begins with a name, and each item of a list that begins with a name and a colon, an anchor, and makes
 * the name a link to it: `#lender.name` is a field.
 */
function anchorNames({ tokens }: StateCore): void {
  const anchors = new Set<string>();
  let heading = '';
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') heading = token.attrGet('id') ?? '';
    if (tokens[index + 1]?.type !== (openings[token.type] ?? '')) continue;
    const [name, after] = tokens[index + 2]?.children ?? [];
    const id = `${heading}.${name?.content}`;
    if (name?.type !== 'code_inline' || anchors.has(id)) continue;
    // A command or a pattern, and no name.
    if (/[<>'"]/.test(name.content)) continue;
    const isDefined = /^[\w.]+$/.test(name.content) && after?.content.startsWith(':') === true;
    if (token.type === 'list_item_open' && !isDefined) continue;
    anchors.add(id);
    token.attrSet('id', id);
    // The generator would change the anchor of a link that is a separate token.
    name.type = 'html_inline';
    name.content = `<a href="#${escape(id)}">${codeWithBreaks(name.content)}</a>`;
  }
}

/** The parts of docs/README.md, which is the list of all pages: links, and what is common to those of a line. */
const parts = readFileSync(join(root, 'docs/README.md'), 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((part) => ({
    text: part.split('\n', 1).join(),
    items: [...part.matchAll(/^- (\[.+?\]\(.+?\)(?:, \[.+?\]\(.+?\))*): (.+)$/gm)].flatMap(([, links = '', use = '']) =>
      [...links.matchAll(/\[(.+?)\]\((.+?)\)/g)].map(([, text = '', href = '']) => ({ text, href, use })),
    ),
  }));

const sidebar = parts.map(({ text, items }) => ({
  text,
  items: items.map((item) => ({
    text: item.text.replaceAll('`', ''),
    link: resolveLink('docs/README.md', item.href)?.href ?? '/',
  })),
}));

/** Rewrites the links in Markdown, outside of code, for another place: a page's Markdown is at its address with `.md` appended. */
function moveLinks(text: string, page: string, target: string): string {
  const pattern = /^ *```.*?^ *```$|`[^`\n]+`|\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)|src="([^"]+)"/gms;
  return text.replace(
    pattern,
    (whole, name: string | undefined, linked: string | undefined, source: string | undefined) => {
      const href = linked ?? source;
      if (href === undefined || /^(?:\w+:|#)/.test(href)) return whole;
      const link = resolveLink(page, href);
      const words = moveLinks(name ?? '', page, target);
      // A folder without a page: the text alone.
      if (link === null) return words;
      const [path = '', hash] = link.href.slice(1).split('#');
      const file = link.isFile ? path : path.replace(/md$/, 'html.md');
      const moved = `${relative(dirname(target), file)}${hash === undefined ? '' : `#${hash}`}`;
      return source === undefined ? `[${words}](${moved})` : `src="${moved}"`;
    },
  );
}

/** https://llmstxt.org */
function writeLlmsText(): string {
  const about = /^Deedwire is .*/m.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[0] ?? '';
  const sections = parts.map(({ text, items }) => {
    const lines = items.map((item) => `- [${item.text}](${item.href}): ${item.use}\n`);
    return `\n## ${text}\n\n${moveLinks(lines.join(''), 'docs/README.md', 'llms.txt')}`;
  });
  return `# Deedwire\n\n> ${moveLinks(about, 'README.md', 'llms.txt')}\n${sections.join('')}`;
}

/** Words, and names like `RETRY_AFTER` and `referral.created` also whole: otherwise pages with their parts come first. */
function tokenize(text: string): string[] {
  const names = text.match(/[\p{L}\p{N}]+(?:[._][\p{L}\p{N}]+)*/gu) ?? [];
  return names.flatMap((name) => [...new Set([name, ...name.split(/[._]/)])]);
}

const searchOptions = { boostTerm: (term: string) => (term.includes('_') ? 10 : 1) };

export default {
  title: 'Deedwire',
  srcDir: root,
  srcExclude: ['**/CHANGELOG.md', '**/test/**', 'bench/results/**'],
  outDir: join(root, 'site/dist'),
  cacheDir: join(root, 'site/node_modules/.cache'),
  rewrites: pathOf,
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    ['style', {}, 'tr:target > td, li:target { background: var(--vp-c-brand-soft) }'],
  ],
  // The index of the search, which is loaded with the first one.
  vite: { build: { chunkSizeWarningLimit: 10_000 } },
  // Files with this name belong to the apps.
  additionalConfig: false,
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    // The anchors of GitHub, which the pages link to.
    anchor: { slugify: (heading: string) => anchor(heading).slice(1) },
    config(markdown: Markdown) {
      markdown.core.ruler.push('links', resolveLinks);
      markdown.core.ruler.push('names', anchorNames);
      markdown.core.ruler.push('breaks', breakNames);
      markdown.core.ruler.push('pictures', drawPictures);
    },
  },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { options: { tokenize }, searchOptions } } },
    notFound: { title: 'Page not found', quote: 'It may have moved: search for it.', linkText: 'First page' },
    outline: 'deep',
    sidebar,
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Reference', link: '/docs/reference/' },
    ],
  },
  buildEnd({ outDir, pages }: { outDir: string; pages: string[] }) {
    writeFileSync(join(outDir, 'llms.txt'), writeLlmsText());
    for (const page of pages) {
      const target = pathOf(page).replace(/md$/, 'html.md');
      writeFileSync(join(outDir, target), moveLinks(readFileSync(join(root, page), 'utf8'), page, target));
    }
    for (const file of files) cpSync(join(root, file), join(outDir, file));
    // The path in the repository leads to the page, too: what the apps link to exists in both places.
    for (const page of pages) {
      if (basename(page) === 'README.md') continue;
      const target = `../${basename(page, '.md')}.html`;
      mkdirSync(join(outDir, page), { recursive: true });
      writeFileSync(
        join(outDir, page, 'index.html'),
        `<!doctype html><title>Deedwire</title><a href="${target}">${target}</a><script>location.replace('${target}' + location.hash)</script>\n`,
      );
    }
  },
};
