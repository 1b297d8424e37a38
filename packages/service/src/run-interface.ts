import type { InterfaceName, Service } from '@deedwire/core';
import { startInterface, type StartInterfaceOptions } from '@deedwire/graphql-server';
import { appEnvironment } from './app-environment.ts';
import { interfaceCode, serviceFolderOf } from './interface-code.ts';

/** As `startInterface` of this package, with what only our own programs use. */
export function runInterface(
  service: Service,
  interfaceName: InterfaceName,
  options: Omit<StartInterfaceOptions, 'code'>,
): ReturnType<typeof startInterface> {
  const folder = serviceFolderOf(options.app);
  return startInterface(service, interfaceName, {
    ...options,
    env: appEnvironment(options.env),
    contracts: async () =>
      (await import('./contracts.ts')).interfaceContracts(service, interfaceName, options.app, folder),
    code: () => interfaceCode(service, interfaceName, folder),
  });
}
