import { readLayouts } from '@deedwire/layout';
import { expect, test } from 'vitest';
import { findFiles, readText } from './workspace-files.ts';

test('no generator names a folder of a service', async () => {
  const layouts = await readLayouts();
  const folders = layouts.flatMap(({ root, payloads, reference, interfaceNames, contractOf, appOf }) => [
    root,
    ...[payloads, reference].filter((path) => path !== null),
    ...interfaceNames.flatMap((name) => [contractOf(name), appOf(name).replace(/\/src$/, '')]),
  ]);
  const named = [...folders, 'packages/*-schema', 'packages/${', "'apps/", '`apps/', '}-schema', 'webhook-events/'];
  /** The apps of every service. */
  const ofPlatform = /'apps\/(?:operator-cli|webhook-worker)'/g;
  const comment = /^\s*(?:\/[/*]|\*).*|\s\/\/\s.*/gm;
  const sources = findFiles('tools/generate/src/**/*.ts').filter((path) => !/\.test\.ts$|\/template\//.test(path));
  expect(sources.length).toBeGreaterThan(50);
  const lines = sources.flatMap((path) =>
    readText(path)
      .replaceAll(comment, '')
      .replaceAll(ofPlatform, '')
      .split('\n')
      .filter((line) => named.some((each) => line.includes(each)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(lines).toEqual([]);
});
