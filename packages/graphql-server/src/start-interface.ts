import { createRequire } from 'node:module';
import type { InterfaceName, Service } from '@deedwire/core';
import type { RunningServer } from '@deedwire/service-runtime';
import { readInterfaceConfig } from './interface-config.ts';
import { type InterfaceCode, startInterfaceService } from './interface-service.ts';
import { checkCode } from './versions/check-code.ts';

export interface StartInterfaceOptions {
  /** The URL of a module of the app. Its folder has `contracts.json`, and the folder above it `package.json`. */
  app: string;
  /** Loaded after the configuration was read. */
  code: () => Promise<InterfaceCode>;
}

/**
 * Starts the app of an interface. It also starts without its database, and becomes ready once that is reachable.
 *
 * @throws {ServiceError} if the code is not that of this interface
 */
export async function startInterface<Served extends Service>(
  service: Served,
  interfaceName: InterfaceName & keyof Served['interfaces'],
  { app, code }: StartInterfaceOptions,
): Promise<RunningServer> {
  const config = readInterfaceConfig(service, interfaceName);
  const { version: appVersion }: { version: string } = createRequire(app)('../package.json');
  const contracts = new URL('contracts.json', app);
  const loaded = await code();
  checkCode(service, interfaceName, loaded.contract);
  return startInterfaceService({ ...loaded, service, interfaceName, config, appVersion, contracts });
}
