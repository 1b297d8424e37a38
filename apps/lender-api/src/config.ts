import { type InterfaceConfig, interfaceConfig } from '@deedwire/graphql-server';
import { readConfig } from '@deedwire/service-runtime';

/** The only reader of the environment. */
export function readLenderApiConfig(): InterfaceConfig {
  // oxlint-disable-next-line node/no-process-env -- here, and nowhere else in this app
  return readConfig(interfaceConfig({ port: 4001 }), process.env);
}
