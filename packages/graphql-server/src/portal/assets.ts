import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** The built pages, in memory: less than a megabyte. */
export interface PortalPages {
  /** The contents of `documents.json`. */
  documents: string;
  /** The page, whose files are below `base`. */
  index(base: string): string;
  asset(name: string): PortalAsset | undefined;
}

export interface PortalAsset {
  text: string;
  /** The same, a third as long. */
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
export async function readPages(folder: string): Promise<PortalPages | null> {
  const index = await readFile(join(folder, 'index.html'), 'utf8').catch(() => null);
  if (index === null) return null;
  const assets = new Map<string, PortalAsset>();
  for (const name of await readdir(join(folder, 'assets'))) {
    const type = contentTypes[extname(name)];
    if (type === undefined) throw new Error(`The file ${name} of the portal has an unknown content type.`);
    const text = await readFile(join(folder, 'assets', name), 'utf8');
    assets.set(name, { text, gzip: gzipSync(text), contentType: `${type}; charset=utf-8` });
  }
  return {
    documents: await readFile(join(folder, 'documents.json'), 'utf8'),
    index: (base) => index.replaceAll('"./assets/', () => `"${base}assets/`),
    asset: (name) => assets.get(name),
  };
}
