import { createReadStream, existsSync, globSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { listen } from '@deedwire/testing';
import { workspaceRoot } from './workspace.ts';

const site = join(workspaceRoot, 'site/dist');

/** A value of `DOCUMENTATION_URL`: the pages in this tree. */
export const documentationFiles = pathToFileURL(join(workspaceRoot, 'docs')).href;

/** Whether `pnpm site` has built the pages. */
export function isSiteBuilt(): boolean {
  return existsSync(join(site, 'index.html'));
}

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/**
 * Serves the site on this machine, with the files that it has now, so that no path leads out of its folder.
 *
 * @returns `url`: a value of `DOCUMENTATION_URL`
 */
export async function serveSite(port: number): Promise<{ url: string; close: () => Promise<void> }> {
  const entries = globSync('**/*', { cwd: site, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = new Set(entries.map(({ name, parentPath }) => relative(site, join(parentPath, name))));
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const path = `${pathname.slice(1)}${pathname.endsWith('/') ? 'index.html' : ''}`;
    const isFile = files.has(path);
    if (files.has(`${path}/index.html`)) response.writeHead(302, { Location: `${pathname}/` }).end();
    else {
      const file = isFile ? path : '404.html';
      const mediaType = mediaTypes[extname(file)] ?? 'text/plain; charset=utf-8';
      response.writeHead(isFile ? 200 : 404, { 'Content-Type': mediaType });
      createReadStream(join(site, file)).pipe(response);
    }
  });
  const listening = await listen(server, port);
  return { url: `http://127.0.0.1:${listening.port}/docs`, close: () => listening.close() };
}
