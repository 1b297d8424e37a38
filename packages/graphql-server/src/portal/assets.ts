import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Service } from '@deedwire/core';
import { payloadChanges } from './payload-changes.ts';

/** The built pages, in memory: less than a megabyte. */
export interface PortalPages {
  /** The contents of `documents.json`. */
  documents: string;
  /** The page, whose files are below `base`. */
  index(base: string): string;
  /** Sent instead of the page to an address that requests too many. Loads itself again. */
  refused: string;
  /** Sent for a path without the number of an account. */
  withoutAccount: string;
  /** The source of the script in both pages, for `script-src`. */
  scriptSource: string;
  asset(name: string): PortalAsset | undefined;
}

export interface PortalAsset {
  /** The only form that is sent. */
  gzip: Buffer;
  contentType: string;
}

/** All of them are text. The pages have no other files. */
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
};

/** The folder into which the pages are built. Null if their package is not installed. */
export function findPages(): string | null {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('@deedwire/portal/package.json')), 'dist');
  } catch {
    return null;
  }
}

/** Null if the pages are not built. */
export async function readPages(folder: string, service: Service): Promise<PortalPages | null> {
  const index = await readFile(join(folder, 'index.html'), 'utf8').catch(() => null);
  if (index === null) return null;
  if (!reloadElement.test(index)) throw new Error('The page of the portal does not load assets/reload.js.');
  for (const element of [prefixElement, changesElement])
    if (!index.includes(element)) throw new Error(`The page of the portal has no ${element}.`);
  const assets = new Map<string, PortalAsset>();
  for (const name of await readdir(join(folder, 'assets'))) {
    const type = contentTypes[extname(name)];
    if (type === undefined) throw new Error(`The file ${name} of the portal has an unknown content type.`);
    const text = await readFile(join(folder, 'assets', name));
    assets.set(name, { gzip: gzipSync(text), contentType: `${type}; charset=utf-8` });
  }
  const changes = JSON.stringify(payloadChanges(service));
  const changesFile = `payload-changes-${hash('sha256', changes, 'base64url').slice(0, 8)}.json`;
  assets.set(changesFile, { gzip: gzipSync(changes), contentType: 'application/json; charset=utf-8' });
  const script = await readFile(join(folder, 'assets/reload.js'), 'utf8');
  const page = index
    .replace(reloadElement, () => `<script>${script}</script>`)
    .replace(prefixElement, () => `<meta name="header-prefix" content="${service.names.headerPrefix}" />`)
    .replace(changesElement, () => `<meta name="payload-changes" content="./assets/${changesFile}" />`);
  return {
    documents: await readFile(join(folder, 'documents.json'), 'utf8'),
    index: (base) => page.replaceAll('"./assets/', () => `"${base}assets/`),
    refused: plainPage(
      'Too many requests',
      'The portal gets more requests from your network than it serves. Nothing was changed. This page tries again in a few seconds.',
      { reload: script },
    ),
    withoutAccount: plainPage(
      'No such page',
      'The address of a portal has the number of an account. To get a link to yours, go back to the application that you came from.',
    ),
    scriptSource: `'sha256-${hash('sha256', script, 'base64')}'`,
    asset: (name) => assets.get(name),
  };
}

/** Gets the header prefix of the service. */
const prefixElement = '<meta name="header-prefix" content="" />';

/** Gets the path of the file with what the versions of payloads change. */
const changesElement = '<meta name="payload-changes" content="" />';

/** Its script becomes a part of the page, because it has to run when no file arrives. */
const reloadElement = /<script\s+src="\.\/assets\/reload\.js"><\/script>/;

interface PlainPageOptions {
  /** `data-refused` makes this script, `reload.ts`, load the page again. */
  reload?: string | undefined;
  /** The label of a button that sends a POST to the URL of the page. */
  button?: string | undefined;
  style?: string;
}

/** A page without files. No part of it is from a request. */
export const plainPage = (
  title: string,
  text: string,
  { reload, button, style }: PlainPageOptions = {},
): string => `<!doctype html>
<html lang="en"${reload === undefined ? '' : ' data-refused'}>
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width" />
    <meta name="color-scheme" content="light dark" />
    <title>Webhooks</title>
    <link rel="icon" href="data:," />
    ${reload === undefined ? '' : `<script>${reload}</script>`}${style === undefined ? '' : `<style>${style}</style>`}
  </head>
  <body>
    <main>
      <h1>${title}</h1>
      <p>${text}</p>${button === undefined ? '' : `\n      <form method="post"><button>${button}</button></form>`}
    </main>
    ${reload === undefined ? '' : '<noscript>This page needs JavaScript.</noscript>'}
  </body>
</html>
`;
