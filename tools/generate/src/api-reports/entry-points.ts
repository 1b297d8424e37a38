import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An entry point of a package that has types. */
export interface EntryPoint {
  /** The path in `exports`, with `*` replaced: `.`, `./web`, `./2026-11-01`. */
  readonly name: string;
  /** The report in `api/`: `index.api.json`, `web.api.json`. */
  readonly reportFile: string;
  /** The declaration file relative to `dist`. */
  readonly declarations: string;
}

type Exports = Readonly<Record<string, string | { readonly types: string }>>;

/**
 * The entry points that have types, sorted by name. Patterns are expanded to the existing declaration files.
 *
 * @param outDir the folder that corresponds to `dist`
 */
export function entryPointsOf(packageFolder: string, outDir: string): EntryPoint[] {
  const { publishConfig }: { publishConfig: { exports: Exports } } = JSON.parse(
    readFileSync(join(packageFolder, 'package.json'), 'utf8'),
  );
  return Object.entries(publishConfig.exports)
    .flatMap(([name, target]) => (typeof target === 'string' ? [] : expanded(name, target.types, outDir)))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function expanded(name: string, types: string, outDir: string): EntryPoint[] {
  const path = types.replace('./dist/', '');
  const [before = '', after = ''] = path.split('*');
  // `*` in `exports` also matches slashes.
  const files = path.includes('*') ? globSync(`${before}**/*${after}`, { cwd: outDir }) : [path];
  const found = path.includes('*') ? [...files, ...globSync(path, { cwd: outDir })] : files;
  return [...new Set(found.map((file) => file.replaceAll('\\', '/')))].map((declarations) => {
    const entryPoint = name.replace('*', declarations.slice(before.length, declarations.length - after.length));
    return { name: entryPoint, reportFile: `${entryPoint.replace(/^\.\/?/, '') || 'index'}.api.json`, declarations };
  });
}
