import type { InterfaceName, Service } from '@deedwire/core';
import { runInterface } from './run-interface.ts';
import type { RunningInterface, StartOptions } from './running-app.ts';

/**
 * Starts an interface of a service in this program: its GraphQL API and the portal of its accounts. The program can have other interfaces,
 * the worker and the application too. It also starts without its database, and becomes ready once that is reachable. It handles no signal
 * and ends no process.
 *
 * @param options.app the folder `deedwire` beside the nearest `package.json` has the SDL of each version
 * @throws {ConfigError} if a variable is missing or invalid, or names an address on which this process cannot listen
 * @throws {ServiceError} if the SDL of a version is missing
 */
export function startInterface<Served extends Service>(
  service: Served,
  interfaceName: InterfaceName & keyof Served['interfaces'],
  options: StartOptions,
): Promise<RunningInterface> {
  return runInterface(service, interfaceName, options);
}
