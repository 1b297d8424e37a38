import { firm } from '@deedwire/firm';
import { type InterfaceConfig, interfaceConfig } from '@deedwire/graphql-server';
import { readConfig } from '@deedwire/service-runtime';

/** The only reader of the environment. */
export function readPartnerApiConfig(): InterfaceConfig {
  return readConfig(interfaceConfig(firm, firm.interfaces.partner), process.env);
}
