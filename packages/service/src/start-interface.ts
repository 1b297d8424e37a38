import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import type { InterfaceName, Service } from '@deedwire/core';
import { startInterface as start, type StartInterfaceOptions } from '@deedwire/graphql-server';
import { appEnvironment } from './app-environment.ts';
import { commonHalf } from './common-half.ts';

/**
 * Starts an interface of a service in this program: its GraphQL API and the portal of its accounts. The program can have other interfaces,
 * the worker and the application too. It also starts without its database, and becomes ready once that is reachable. It handles no signal
 * and ends no process.
 *
 * @param options.app the URL of a module of the application, `import.meta.url`: the folder `deedwire` beside the nearest `package.json` has the
 * SDL of each version
 * @throws {ConfigError} if a variable is missing or invalid, or names an address on which this process cannot listen
 * @throws {ServiceError} if the SDL of a version is missing
 */
export function startInterface<Served extends Service>(
  service: Served,
  interfaceName: InterfaceName & keyof Served['interfaces'],
  options: Omit<StartInterfaceOptions, 'code'>,
): ReturnType<typeof start> {
  const folder = join(dirname(findPackageJSON(options.app) ?? ''), 'deedwire');
  return start(service, interfaceName, {
    ...options,
    env: appEnvironment(options.env),
    code: async () => commonHalf(service, interfaceName, folder),
  });
}
