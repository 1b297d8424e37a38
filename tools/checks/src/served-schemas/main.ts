import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { appOf } from '@deedwire/core';
import { type Layout, loadInterface, readChosenLayout, readLayouts } from '@deedwire/layout';
import { workspaceRoot } from '../run.ts';
import { servedDifferences, type ServedInterface } from './differences.ts';

const sdlOf =
  ({ contractOf }: Layout, name: string) =>
  (version: string) =>
    readFileSync(join(workspaceRoot, contractOf(name), `versions/${version}.graphql`), 'utf8');

// A separate process, because the scripts run without the condition that resolves our packages to their sources.
const { service } = parseArgs({ options: { service: { type: 'string' } } }).values;
const differences = [];
for (const layout of service === undefined ? await readLayouts() : [await readChosenLayout(service)])
  for (const name of layout.interfaceNames) {
    const { contract } = await loadInterface<{ contract: Pick<ServedInterface, 'problems' | 'versions'> }>(
      layout,
      name,
    );
    differences.push(...servedDifferences({ name: appOf(name), ...contract, sdl: sdlOf(layout, name) }));
  }
process.stdout.write(differences.map((line) => `${line}\n`).join(''));
process.exitCode = differences.length > 0 ? 1 : 0;
