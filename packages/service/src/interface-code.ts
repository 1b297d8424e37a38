import { existsSync, readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { type InterfaceName, interfaceOf, type Service, ServiceError } from '@deedwire/core';
import { type Contract, type InterfaceCode, serveContract } from '@deedwire/graphql-server';
import { buildSchema } from 'graphql';
import * as z from 'zod';
import { createHalves, readManifest } from './common-half.ts';
import type { ServedVersion } from './define-service.ts';

const numbers = z.record(z.string(), z.number()).default({});

/** `deedwire/<interface>/own/<date>.manifest.json`: what the half of the application needs and costs, by coordinate. */
const ownManifest = z.strictObject({
  abilities: z.record(z.string(), z.array(z.string())).default({}),
  costWeights: numbers,
  costListSizes: numbers,
  costPageMaximums: numbers,
});

/**
 * The code of an interface: for each version the common half, and that of the application if it has one. Exactly the SDL is served.
 *
 * @param folder has the SDL of each version, `<interface>/<date>.graphql`
 * @throws {ServiceError} if the SDL or the manifest of a version cannot be read, or it has no edition
 */
export async function interfaceCode(service: Service, name: InterfaceName, folder: string): Promise<InterfaceCode> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
  const versions = interfaceOf(service, name).versions as readonly ServedVersion[];
  const served = await Promise.all(
    versions.filter(({ status }) => status !== 'retired').map((version) => serve(version, join(folder, name))),
  );
  const of = (version: string) => {
    const found = served.find((each) => each.version === version);
    if (found === undefined) throw new RangeError(`${name} does not serve ${version}.`);
    return found;
  };
  const contract: Contract = {
    versions,
    sdl: (version) => of(version).sdl,
    abilities: (version) => of(version).abilities,
    costs: (version) => of(version).costs,
  };
  const { problems, ...bound } = serveContract(
    contract,
    new Map(served.map(({ version, schema }) => [version, schema])),
  );
  const strayActions = served.flatMap(({ version, actions }) =>
    actions
      .filter((action) => !service.clientActions.includes(action))
      .map(
        (action) =>
          `schema version ${version} records the action ${action}, which \`clientActions\` of the service lacks`,
      ),
  );
  return { contract: { ...bound, problems: [...problems, ...strayActions] } };
}

/** How the code of the interfaces differs from their SDL: a sentence each. */
export async function findCodeProblems(service: Service, folder: string): Promise<string[]> {
  const problems: string[] = [];
  for (const name of Object.keys(service.interfaces)) {
    const { contract } = await interfaceCode(service, name, folder);
    problems.push(...contract.problems.map((problem) => `${name}: ${problem}`));
  }
  return problems;
}

/**
 * For programs that end then. A deployed interface starts, is not ready, and says why.
 *
 * @param app the URL of a module of the application
 * @throws {ServiceError} if the code of an interface differs from its SDL, which would never become ready
 */
export async function requireServedCode(service: Service, app: string): Promise<void> {
  const problems = await findCodeProblems(service, serviceFolderOf(app));
  if (problems.length > 0) throw new ServiceError(problems);
}

/** `deedwire` beside the nearest `package.json` of a module of the application. */
export const serviceFolderOf = (app: string): string => join(dirname(findPackageJSON(app) ?? ''), 'deedwire');

async function serve({ version, edition, serve: load }: ServedVersion, folder: string) {
  const sdl = readSdl(join(folder, `${version}.graphql`), load === undefined ? 'init' : 'generate');
  const own = load === undefined ? null : (await load()).version;
  const actions: string[] = [];
  const schema = createHalves(
    edition,
    buildSchema(sdl),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the type of the parameter is not published
    own && ((builder, connectionOf) => actions.push(...own.addTo(builder as never, connectionOf as never, version))),
  );
  const common = readManifest(edition, schema);
  const { abilities, costWeights, costListSizes, costPageMaximums } = readOwnManifest(
    join(folder, `own/${version}.manifest.json`),
  );
  return {
    version,
    sdl,
    schema,
    actions,
    abilities: { ...abilities, ...common.abilities },
    costs: {
      weights: { ...costWeights, ...common.costWeights },
      listSizes: { ...costListSizes, ...common.costListSizes },
      pageMaximums: { ...costPageMaximums, ...common.costPageMaximums },
      pageSizeMaximum: common.pagination.firstMaximum,
    },
  };
}

/** @throws {ServiceError} */
function readSdl(file: string, command: string): string {
  if (!existsSync(file)) throw new ServiceError([`The SDL ${file} is missing. Write it with \`deedwire ${command}\`.`]);
  return readFileSync(file, 'utf8');
}

/** @throws {ServiceError} */
function readOwnManifest(file: string): z.output<typeof ownManifest> {
  if (!existsSync(file)) return ownManifest.parse({});
  const { data, error } = ownManifest.safeParse(JSON.parse(readFileSync(file, 'utf8')));
  if (error !== undefined) throw new ServiceError([`${file} is no manifest:\n${z.prettifyError(error)}`]);
  return data;
}
