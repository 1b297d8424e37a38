import { readFileSync } from 'node:fs';
import { appOf } from '@deedwire/core';
import { interfaceNames } from '@deedwire/firm';
import { servedDifferences, type ServedInterface } from './differences.ts';

const root = new URL('../../../../', import.meta.url);
const sdlOf = (name: string) => (version: string) =>
  readFileSync(new URL(`packages/${name}-schema/versions/${version}.graphql`, root), 'utf8');

// A separate process, because the scripts run without the condition that resolves our packages to their sources.
const differences = [];
for (const name of interfaceNames) {
  const file = new URL(`apps/${appOf(name)}/src/${name}-interface.ts`, root);
  const [served]: { contract: Pick<ServedInterface, 'problems' | 'versions'> }[] = Object.values(
    await import(file.href),
  );
  if (served === undefined) throw new Error(`${file.pathname} exports no interface.`);
  differences.push(...servedDifferences({ name: appOf(name), ...served.contract, sdl: sdlOf(name) }));
}
process.stdout.write(differences.map((line) => `${line}\n`).join(''));
process.exitCode = differences.length > 0 ? 1 : 0;
