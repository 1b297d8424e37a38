import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { contractPackageOf, eventContractsOf } from '@deedwire/actions';
import {
  alertTypes,
  appOf,
  eventOf,
  type InterfaceName,
  interfaceNamesOf,
  interfaceOf,
  type Service,
  snapshotSchema,
} from '@deedwire/core';
import { buildOf } from '@deedwire/service-runtime';
import { readMigrations } from '@deedwire/store';
import { neededPart, renderingsOf } from '@deedwire/webhook-rendering';
import type { ServedVersion } from './define-service.ts';

/** What a build can do, as `contract-check can-i-deploy` reads it. */
interface Contracts {
  serves?: readonly object[];
  pins?: readonly object[];
  appends: readonly object[];
  renders?: readonly object[];
}

/**
 * The contracts of each app of a service, as its processes register them.
 *
 * @param app the URL of a module of the application
 * @param folder has the SDL of each version, `<interface>/<date>.graphql`
 * @returns by the name of the app: `webhook-worker`, `customer-api`
 */
export async function contractsOf(service: Service, app: string, folder: string): Promise<Map<string, string>> {
  const all = new Map([['webhook-worker', await workerContracts(service, app)]]);
  for (const name of interfaceNamesOf(service))
    all.set(appOf(name), await interfaceContracts(service, name, app, folder));
  return all.set('operator-cli', await operatorContracts(service, app));
}

/** What a build of the worker can do. */
export function workerContracts(service: Service, app: string): Promise<string> {
  return text('webhook-worker', app, {
    appends: alertTypes.flatMap((type) => {
      const event = eventOf(service, type);
      return event === undefined ? [] : [{ type, snapshot: snapshotSchema(event) }];
    }),
    renders: service.events.flatMap((event) =>
      renderingsOf(event).map((rendering) => ({
        event: `${rendering.type}@${rendering.version}`,
        needs: neededPart(rendering, event.sample(service.names.gidNamespace), snapshotSchema(event)),
      })),
    ),
  });
}

/** What a build of an interface can do. */
export function interfaceContracts(
  service: Service,
  name: InterfaceName,
  app: string,
  folder: string,
): Promise<string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as `defineService` has kept them
  const versions = interfaceOf(service, name).versions as readonly ServedVersion[];
  return text(appOf(name), app, {
    serves: versions
      .filter(({ status }) => status !== 'retired')
      .map(({ version, deprecatedOn }) => {
        const file = `${name}/${version}.graphql`;
        const sdl = readFileSync(join(folder, file), 'utf8');
        return {
          interface: name,
          version,
          package: contractPackageOf(name),
          packageVersion: buildOf(app).version,
          file,
          sha256: hash('sha256', sdl),
          deprecatedOn,
          sdl,
        };
      }),
    ...eventContracts(service, [name]),
  });
}

/** What a build of the command line of operators can do. */
export function operatorContracts(service: Service, app: string): Promise<string> {
  return text('operator-cli', app, eventContracts(service, interfaceNamesOf(service)));
}

function eventContracts(service: Service, names: readonly InterfaceName[]): Contracts {
  const { pins, appends } = eventContractsOf(service, names);
  return {
    pins: pins.map(({ type, version }) => {
      const found = eventOf(service, type)?.versions.find((each) => each.version === version);
      return {
        event: `${type}@${version}`,
        deprecatedOn: found?.deprecatedOn ?? null,
        sunsetOn: found?.sunsetOn ?? null,
      };
    }),
    appends,
  };
}

async function text(name: string, app: string, contracts: Contracts): Promise<string> {
  const { version } = buildOf(app);
  // Older databases never get a baseline.
  const migrations = (await readMigrations()).filter(({ isBaseline }) => isBaseline !== true);
  const head = { formatVersion: 1, app: name, version, commit: null, migration: migrations.at(-1)?.name };
  const { serves = [], pins = [], appends, renders = [] } = contracts;
  return `${JSON.stringify({ ...head, serves, pins, appends, renders }, null, 2)}\n`;
}
