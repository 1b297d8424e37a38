import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** Imports a module in its own process, and prints the URLs of what it loads, and which of Node's own modules are loaded. */
const script = (module: string): string => `
  import { registerHooks } from 'node:module';
  const loaded = [];
  registerHooks({
    load(url, context, nextLoad) {
      loaded.push(url);
      return nextLoad(url, context);
    },
  });
  await import(${JSON.stringify(module)});
  console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

/** It takes 14 MB of memory in every process. */
const fetchOfNode = /\/undici\/(?:index\.js|lib\/web\/)|internal\/deps\/undici/;

// Each interface loads the same packages.
test.each(['lender-api/src/lender-interface.ts', 'webhook-worker/src/worker.ts'])(
  'apps/%s does not load the fetch of Node, which it does not use',
  async (file) => {
    const module = new URL(`../../../apps/${file}`, import.meta.url).href;
    const args = ['--conditions=deedwire-source', '--input-type=module', '--eval', script(module)];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 24 });
    const loaded: string[] = JSON.parse(stdout);
    expect(loaded.some((name) => name.includes('/undici/lib/dispatcher/client.js'))).toBe(true);
    expect(loaded.filter((name) => fetchOfNode.test(name))).toEqual([]);
  },
);
