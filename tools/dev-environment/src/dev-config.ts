import { appOf, type SnakeCase, variableOf } from '@deedwire/core';
import { type InterfaceName, firm, interfaceNames } from '@deedwire/firm';
import { appVariables, gidNamespaceVariable, runtimeConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import { z } from 'zod';
import type { SystemOptions } from './firm-system.ts';

const port = (defaultPort: string) => wholeNumberVariable({ min: 0, max: 65_535 }).prefault(defaultPort);

/** A variable for each interface, for example `LENDER_API_PORT`. */
function interfacePorts<Part extends 'PORT' | 'ADMIN_PORT'>(part: Part, portOf: (name: InterfaceName) => number) {
  const entries = interfaceNames.map((name) => [`${variableOf(name)}_API_${part}`, port(String(portOf(name)))]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `variableOf` makes these names
  return Object.fromEntries(entries) as Record<
    `${Uppercase<SnakeCase<InterfaceName>>}_API_${Part}`,
    ReturnType<typeof port>
  >;
}

/** The variables that `pnpm dev` reads. The apps inherit the rest of the environment. */
export const devConfig = z.object({
  /** Defaults to `.local` in the workspace. */
  DEEDWIRE_HOME: z.string().optional(),
  /** Defaults to an embedded server whose data is in the home. */
  DATABASE_URL: appVariables.DATABASE_URL.optional(),
  DATABASE_DIRECT_URL: appVariables.DATABASE_DIRECT_URL,
  /** 0 selects a free port. */
  ...interfacePorts('PORT', (name) => firm.interfaces[name].port),
  /** `ADMIN_PORT` of the apps. Fixed by default, so that a scrape configuration survives a restart. */
  ...interfacePorts('ADMIN_PORT', (name) => firm.interfaces[name].adminPort),
  WEBHOOK_WORKER_PORT: port('4003'),
  /** Only used with `--receiver`. */
  RECEIVER_PORT: port('4004'),
  /** Where the apps link to. Defaults to the site that `pnpm site` has built, which is served, otherwise to the files in this tree. */
  DOCUMENTATION_URL: appVariables.DOCUMENTATION_URL,
  GID_NAMESPACE: gidNamespaceVariable(firm),
  LOG_LEVEL: runtimeConfig.LOG_LEVEL,
  WEBHOOK_CALLBACK_POLICY: appVariables.WEBHOOK_CALLBACK_POLICY.unwrap().default('development'),
});

export type DevConfig = z.output<typeof devConfig>;

/** The ports that a run listens on, by variable. */
export function portsOf(config: DevConfig, { receiver }: { receiver: boolean }): Record<string, number> {
  const ports = Object.entries(config).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return Object.fromEntries(ports.filter(([name]) => receiver || name !== 'RECEIVER_PORT'));
}

export function systemPorts(config: DevConfig): Pick<SystemOptions, 'ports' | 'adminPorts'> {
  const portsOfInterfaces = (part: 'PORT' | 'ADMIN_PORT') =>
    Object.fromEntries(interfaceNames.map((name) => [appOf(name), config[`${variableOf(name)}_API_${part}`]]));
  return {
    ports: portsOfInterfaces('PORT'),
    adminPorts: { ...portsOfInterfaces('ADMIN_PORT'), 'webhook-worker': config.WEBHOOK_WORKER_PORT },
  };
}
