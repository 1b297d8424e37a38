import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { copyShop } from '../test/copy-shop.ts';
import { testLayout } from '../test/test-layout.ts';
import {
  hasPayloads,
  hasReference,
  isDefault,
  loadPayloads,
  readChosenLayout,
  readLayout,
  readLayouts,
} from './layout.ts';
import { workspaceRoot } from './read-json.ts';

let shop: ReturnType<typeof copyShop>;
beforeEach(() => {
  shop = copyShop();
});
afterEach(() => shop.close());

const write = (path: string, text: string): void => writeFileSync(join(shop.folder, path), text);

test('the parts of a service stand at their default places, in any folder', async () => {
  const root = relative(workspaceRoot, shop.folder);
  const layout = await readLayout(shop.folder);
  expect(layout).toMatchObject({
    root,
    names: { headerPrefix: 'X-Shop' },
    interfaceNames: ['customer'],
    events: `${root}/src/events`,
    generated: `${root}/src/generated`,
    payloads: `${root}/webhook-events`,
    reference: null,
    deploy: null,
  });
  expect(layout.contractOf('customer')).toBe(`${root}/src/customer/contract`);
  expect(layout.appOf('customer')).toBe(`${root}/src/customer`);
});

test('its package.json can name other places', async () => {
  const root = relative(workspaceRoot, shop.folder);
  const places = {
    contracts: '<interface>-schema',
    apps: 'apps/<interface>',
    payloads: 'events',
    reference: 'docs',
    deploy: 'deploy',
  };
  write('package.json', JSON.stringify({ type: 'module', deedwire: places }));
  mkdirSync(join(shop.folder, 'events'));
  write('events/versions.json', '{}');
  const layout = await readLayout(shop.folder);
  expect(layout).toMatchObject({ payloads: `${root}/events`, reference: `${root}/docs`, deploy: `${root}/deploy` });
  expect([hasPayloads(layout), hasReference(layout)]).toEqual([true, true]);
  expect(layout.contractOf('customer')).toBe(`${root}/customer-schema`);
  expect(layout.appOf('customer')).toBe(`${root}/apps/customer`);
});

test('a service can publish no payloads', async () => {
  const layout = await testLayout();
  expect(layout).toMatchObject({ payloads: null });
  expect([hasPayloads(layout), hasReference(layout)]).toEqual([false, false]);
});

test.each(['package.json', 'src/names.ts', 'src/interfaces.ts'])('refuses a folder without %s', async (path) => {
  rmSync(join(shop.folder, path));
  await expect(readLayout(shop.folder)).rejects.toThrow(`is no folder with a service: it has no ${path}.`);
});

test.each([
  ['src/names.ts', 'export const name = 1;', 'src/names.ts must export `names`.'],
  ['src/interfaces.ts', 'export {};', 'src/interfaces.ts must export `interfaces`.'],
  ['package.json', '{ "type": "module", "deedwire": { "contract": "." } }', 'Unrecognized key: "contract"'],
])('refuses a folder whose %s is %j', async (path, text, message) => {
  write(path, text);
  await expect(readLayout(shop.folder)).rejects.toThrow(message);
});

test('the first service of the workspace is the default', async () => {
  const layouts = await readLayouts();
  expect(layouts.map(isDefault)).toEqual(layouts.map((_, index) => index === 0));
  expect(isDefault(await readLayout(shop.folder))).toBe(false);
});

test('the payloads of a service are loaded from its package', async () => {
  write('webhook-events/src/index.ts', 'export const parsedEventNames = () => [];');
  expect(await loadPayloads(await readLayout(shop.folder))).toHaveProperty('parsedEventNames');
  expect(await loadPayloads(await testLayout())).toBeNull();
});

test('the services of the workspace are those that its package.json lists', async () => {
  const { deedwire } = JSON.parse(readFileSync(join(workspaceRoot, 'package.json'), 'utf8'));
  expect((await readLayouts()).map(({ root }) => root)).toEqual(deedwire.services);
});

test('a service that is chosen is relative to where the user called a script, and the default is the first of the workspace', async () => {
  vi.stubEnv('INIT_CWD', dirname(shop.folder));
  onTestFinished(() => void vi.unstubAllEnvs());
  expect((await readChosenLayout(basename(shop.folder))).root).toBe(relative(workspaceRoot, shop.folder));
  expect((await readChosenLayout(undefined)).root).toBe((await readLayouts())[0]?.root);
});
