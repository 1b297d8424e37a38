/**
 * Part of the `build` script of the published packages. A module that declares only types compiles to `export {};`, but its
 * source map contains the whole source. This removes such maps, and the comments that name them, from `dist`.
 */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

/** A folder without maps: its errors are shown without their stack. */
const [, , withoutMaps = 'none'] = process.argv;

for (const file of globSync('dist/**/*.js')) {
  const code = readFileSync(file, 'utf8');
  const withoutMap = code.replace(/^\/\/# sourceMappingURL=.*\n?/m, '');
  const withoutComments = withoutMap.replaceAll(/\/\*[^]*?\*\/|^\/\/.*$/gm, '');
  if (withoutComments.trim() !== 'export {};' && !file.startsWith(withoutMaps)) continue;
  writeFileSync(file, withoutMap);
  rmSync(`${file}.map`, { force: true });
}
