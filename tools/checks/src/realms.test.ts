import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { workspaceRoot } from './run.ts';

/** Without `RangeError`: a stack that overflows throws that of the function that runs. */
const builtIns =
  /\binstanceof (?:AbortSignal|AggregateError|Array|ArrayBuffer|Blob|Buffer|Date|Error|Function|Headers|Map|Object|Promise|ReadableStream|RegExp|Request|Response|Set|SyntaxError|TypeError|Uint8Array|URL)\b/;

// The sandbox of a test runner, an iframe and `node:vm` have their own: a Date or an error from the outside is no instance of them.
test('the published packages use no instanceof of a built-in class', () => {
  const manifests = globSync('packages/*/package.json', { cwd: workspaceRoot });
  const published = manifests.filter(
    (path) => JSON.parse(readFileSync(join(workspaceRoot, path), 'utf8')).private !== true,
  );
  expect(published.length).toBeGreaterThan(2);
  const files = published
    .flatMap((path) => globSync(path.replace('package.json', 'src/**/*.ts'), { cwd: workspaceRoot }))
    // A program has one realm.
    .filter((path) => !/\.test(?:-d)?\.ts$|\/bin\.ts$/.test(path));
  const found = files.flatMap((path) =>
    readFileSync(join(workspaceRoot, path), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        builtIns.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [],
      ),
  );
  expect(found).toEqual([]);
});
