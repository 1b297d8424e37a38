import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { workspaceRoot } from '../../src/workspace.ts';
import { build, inherited, outputOf, outputs, run } from '../full/built-apps.ts';

beforeAll(build);

test(
  'each app runs on the Nodes that it supports, and says on an older one what it needs',
  { timeout: 300_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'nodes-'));
    try {
      // All other tests run on 26.
      const versions = ['20', '22.19.0', '24'];
      const packages = versions.map((version) => `node-${version}@npm:node-linux-${process.arch}@${version}`);
      await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...packages], { env: inherited });
      const nodeOf = (version: string) => join(folder, 'node_modules', `node-${version}`, 'bin/node');
      for (const [app, appArguments, output] of outputs) {
        const refusal = new RegExp(
          String.raw`^@deedwire/${app} needs Node 22\.19 or later, but runs on 20\.\d+\.\d+\. Install a later version\.\n$`,
        );
        const main = join(workspaceRoot, 'apps', app, 'dist/main.js');
        const printed = await Promise.all(
          versions.map((version) => outputOf(nodeOf(version), [main, ...appArguments])),
        );
        expect(printed).toEqual([refusal, output, output].map((pattern) => expect.stringMatching(pattern)));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
