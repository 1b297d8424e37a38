import type { InterfaceName, Service } from '@deedwire/core';
import { buildOf, type RunningApp, type RunningServer, type StartAppOptions } from '@deedwire/service-runtime';
import { readInterfaceConfig } from './interface-config.ts';
import { type InterfaceCode, startInterfaceService } from './interface-service.ts';
import { checkCode } from './versions/check-code.ts';

export interface StartInterfaceOptions extends StartAppOptions {
  /** Loaded after the configuration was read. */
  code: () => Promise<InterfaceCode>;
}

/**
 * Starts the app of an interface in this program, which can have others. It also starts without its database, and becomes ready once that is
 * reachable. It handles no signal and ends no process.
 *
 * @throws {ConfigError} if a variable is missing or invalid, or names an address on which this process cannot listen
 * @throws {ServiceError} if the code is not that of this interface
 */
export async function startInterface<Served extends Service>(
  service: Served,
  interfaceName: InterfaceName & keyof Served['interfaces'],
  { app, code, env, servesAdmin, ...given }: StartInterfaceOptions,
): Promise<RunningApp<RunningServer>> {
  const config = readInterfaceConfig(service, interfaceName, env);
  const build = buildOf(app);
  const loaded = await code();
  checkCode(service, interfaceName, loaded.contract);
  const { contracts = build.contracts } = given;
  const options = { ...loaded, service, interfaceName, config, appVersion: build.version, contracts, servesAdmin };
  const { whenReady: ready, ...running } = await startInterfaceService(options);
  return { ready, ...running };
}
