import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Names, Service, ServiceOptions } from '@deedwire/core';
import { z } from 'zod';
import { readJson, workspaceRoot } from './read-json.ts';

/** Where the parts of a service stand. Paths are relative to the workspace. */
export interface Layout {
  /** The folder of the service, with its `package.json`. */
  readonly root: string;
  readonly names: Names;
  readonly interfaces: ServiceOptions['interfaces'];
  /** In the order of the service. */
  readonly interfaceNames: readonly string[];
  /** The events with their renderers, each in a folder with the name of its type. */
  readonly events: string;
  /** The lists of what the service has. */
  readonly generated: string;
  /** The package of payloads. Null if the service publishes none. */
  readonly payloads: string | null;
  /** The pages about each version. Null if there are none. */
  readonly reference: string | null;
  /** The files that deploy it. Null if there are none. */
  readonly deploy: string | null;
  /** The contract of an interface: its versions, what only it has, and what is composed. */
  readonly contractOf: (interfaceName: string) => string;
  /** The sources of the app of an interface. */
  readonly appOf: (interfaceName: string) => string;
}

/** A layout with a package of payloads. */
export interface LayoutWithPayloads extends Layout {
  readonly payloads: string;
}

/** In `package.json`, relative to it: the parts that do not stand at their default places. */
const places = z.strictObject({
  contracts: z.string().default('src/<interface>/contract'),
  apps: z.string().default('src/<interface>'),
  payloads: z.string().default('webhook-events'),
  reference: z.string().optional(),
  deploy: z.string().optional(),
});

const manifestOf = z.object({ deedwire: places.prefault({}) });
const workspaceOf = z.object({ deedwire: z.object({ services: z.array(z.string()).min(1) }) });

/** The layout of each service that the `package.json` of the workspace lists. The first one is the default of commands. */
export async function readLayouts(): Promise<Layout[]> {
  return await Promise.all(readServices().map((folder) => readLayout(folder)));
}

function readServices(): string[] {
  const { deedwire } = readJson('package.json', workspaceOf);
  return deedwire.services.map((folder) => join(workspaceRoot, folder));
}

/** That of the service that the repository deploys. */
export async function readDefaultLayout(): Promise<Layout> {
  const [folder] = readServices();
  if (folder === undefined) throw new Error('The `package.json` of the workspace lists no service.');
  return await readLayout(folder);
}

/** Whether the service is the one that the repository deploys. */
export function isDefault({ root }: Layout): boolean {
  const [folder = ''] = readServices();
  return root === relative(workspaceRoot, folder);
}

/**
 * That of the value of an option `--service`.
 *
 * @param folder relative to where the user called a script. Undefined for the service that the repository deploys
 */
export function readChosenLayout(folder: string | undefined): Promise<Layout> {
  return folder === undefined ? readDefaultLayout() : readLayout(resolve(callersFolder(), folder));
}

/** Where the user called a script. pnpm starts it in the root of the workspace. */
export function callersFolder(): string {
  return process.env['INIT_CWD'] ?? process.cwd();
}

/**
 * The layout of a folder with a service. Loads only `src/names.ts` and `src/interfaces.ts`: other modules import what is generated.
 *
 * @param folder absolute, or relative to the current folder
 * @throws {Error} that names what the folder lacks
 */
export async function readLayout(folder: string): Promise<Layout> {
  const root = relative(workspaceRoot, resolve(folder));
  for (const path of ['package.json', 'src/names.ts', 'src/interfaces.ts'])
    if (!fileExists(join(root, path))) throw new Error(`${root} is no folder with a service: it has no ${path}.`);
  const { deedwire: given } = readJson(join(root, 'package.json'), manifestOf);
  const [{ names }, { interfaces }] = await Promise.all([
    load<{ names?: Names }>(root, 'src/names.ts'),
    load<{ interfaces?: Layout['interfaces'] }>(root, 'src/interfaces.ts'),
  ]);
  if (names === undefined) throw new Error(`${root}/src/names.ts must export \`names\`.`);
  if (interfaces === undefined) throw new Error(`${root}/src/interfaces.ts must export \`interfaces\`.`);
  const placeOf = (place: string) => (interfaceName: string) => join(root, place.replace('<interface>', interfaceName));
  const payloads = join(root, given.payloads);
  return {
    root,
    names,
    interfaces,
    interfaceNames: Object.keys(interfaces),
    events: join(root, 'src/events'),
    generated: join(root, 'src/generated'),
    payloads: fileExists(join(payloads, 'versions.json')) ? payloads : null,
    reference: given.reference === undefined ? null : join(root, given.reference),
    deploy: given.deploy === undefined ? null : join(root, given.deploy),
    contractOf: placeOf(given.contracts),
    appOf: placeOf(given.apps),
  };
}

/** What `src/service.ts` of a service exports. */
export interface ServiceModule<AddCommands, Seed> {
  readonly service: Service;
  /** Its own commands of `deedwire-operator`. */
  readonly commands?: () => Promise<readonly AddCommands[]>;
  /** What `pnpm dev` finds in a new database. */
  readonly seed?: () => Promise<Seed>;
}

/** The value of a service. Loads what is generated. */
export async function loadService<AddCommands, Seed = unknown>({
  root,
}: Layout): Promise<ServiceModule<AddCommands, Seed>> {
  const { service, commands, seed } = await load<Partial<ServiceModule<AddCommands, Seed>>>(root, 'src/service.ts');
  if (service === undefined) throw new Error(`${root}/src/service.ts must export \`service\`.`);
  return { service, ...(commands && { commands }), ...(seed && { seed }) };
}

/** What the app of an interface loads: the only export of `<interface>-interface.ts` among its sources. */
export async function loadInterface<Code extends object>({ appOf }: Layout, name: string): Promise<Code> {
  const path = `${appOf(name)}/${name}-interface.ts`;
  const [code] = Object.values(await load<Record<string, Code>>('', path));
  if (code === undefined) throw new Error(`${path} must export what the app of the ${name} interface loads.`);
  return code;
}

/** Whether the app of each interface has its own entry file, which an image runs. */
export function hasEntryFiles({ interfaceNames, appOf }: Layout): boolean {
  return interfaceNames.every((name) => fileExists(`${appOf(name)}/main.ts`));
}

/** All that the package of payloads exports. Null if the service publishes none. */
export async function loadPayloads<Events>({ payloads }: Layout): Promise<Events | null> {
  return payloads === null ? null : await load<Events>(payloads, 'src/index.ts');
}

function fileExists(path: string): boolean {
  return existsSync(join(workspaceRoot, path));
}

async function load<Module>(root: string, path: string): Promise<Module> {
  return await import(pathToFileURL(join(workspaceRoot, root, path)).href);
}

/** A layout with files that deploy the service. */
export interface LayoutWithDeployment extends Layout {
  readonly deploy: string;
}

export function hasDeployment(layout: Layout): layout is LayoutWithDeployment {
  return layout.deploy !== null;
}

/** A layout with pages about each version. */
export interface LayoutWithReference extends LayoutWithPayloads {
  readonly reference: string;
}

export function hasPayloads(layout: Layout): layout is LayoutWithPayloads {
  return layout.payloads !== null;
}

export function hasReference(layout: Layout): layout is LayoutWithReference {
  return layout.reference !== null && hasPayloads(layout);
}
