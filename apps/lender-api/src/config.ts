import { firm } from '@deedwire/firm';
import { type InterfaceConfig, interfaceConfig } from '@deedwire/graphql-server';
import { readConfig } from '@deedwire/service-runtime';

/** The only reader of the environment. */
export function readLenderApiConfig(): InterfaceConfig {
  return readConfig(interfaceConfig(firm, firm.interfaces.lender), process.env);
}
