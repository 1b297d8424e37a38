import { appOf, type InterfaceApp, interfaceNamesOf, interfaceOf, type Service, variableOf } from '@deedwire/core';
import { appVariables, gidNamespaceVariable, runtimeConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import { z } from 'zod';
import type { SystemOptions } from './start-system.ts';

const port = (defaultPort: number) => wholeNumberVariable({ min: 0, max: 65_535 }).prefault(String(defaultPort));

type InterfaceVariable = `${string}_API_PORT` | `${string}_API_ADMIN_PORT`;

/** The variables of the ports of the interfaces, with their defaults: `LENDER_API_PORT`. Then those of `ADMIN_PORT`. */
export function portVariables(service: Service): [variable: InterfaceVariable, defaultPort: number][] {
  const names = interfaceNamesOf(service);
  return [
    ...names.map((name): [InterfaceVariable, number] => [
      `${variableOf(name)}_API_PORT`,
      interfaceOf(service, name).port,
    ]),
    ...names.map((name): [InterfaceVariable, number] => [
      `${variableOf(name)}_API_ADMIN_PORT`,
      interfaceOf(service, name).adminPort,
    ]),
  ];
}

/** The first port after that of the worker that no interface has. */
export function defaultReceiverPort(service: Service): number {
  const taken = new Set(portVariables(service).map(([, defaultPort]) => defaultPort));
  let free = 4004;
  while (taken.has(free)) free += 1;
  return free;
}

/** The variables that `pnpm dev` reads. The apps inherit the rest of the environment. */
export function devConfigOf(service: Service) {
  // Fixed by default, so that a scrape configuration survives a restart. 0 selects a free port.
  const ports = portVariables(service).map(([variable, defaultPort]) => [variable, port(defaultPort)] as const);
  return z.object({
    /** Defaults to `.local` in the workspace, or in the folder of another service than the one that the repository deploys. */
    DEEDWIRE_HOME: z.string().optional(),
    /** Defaults to an embedded server whose data is in the home. */
    DATABASE_URL: appVariables.DATABASE_URL.optional(),
    DATABASE_DIRECT_URL: appVariables.DATABASE_DIRECT_URL,
    /** Defaults to where the tables are, and to `deedwire` for a new database. */
    DATABASE_SCHEMA: appVariables.DATABASE_SCHEMA,
    ...(Object.fromEntries(ports) as Record<InterfaceVariable, ReturnType<typeof port>>),
    WEBHOOK_WORKER_PORT: port(4003),
    /** Only used with `--receiver`. */
    RECEIVER_PORT: port(defaultReceiverPort(service)),
    /** Where the apps link to. Defaults to the site that `pnpm site` has built, which is served, otherwise to the files in this tree. */
    DOCUMENTATION_URL: appVariables.DOCUMENTATION_URL,
    GID_NAMESPACE: gidNamespaceVariable(service),
    LOG_LEVEL: runtimeConfig.LOG_LEVEL,
    WEBHOOK_CALLBACK_POLICY: appVariables.WEBHOOK_CALLBACK_POLICY.unwrap().default('development'),
  });
}

export type DevConfig = z.output<ReturnType<typeof devConfigOf>>;

/** The ports that a run listens on, by variable. */
export function portsOf(config: DevConfig, { receiver }: { receiver: boolean }): Record<string, number> {
  const ports = Object.entries(config).filter((entry): entry is [string, number] => typeof entry[1] === 'number');
  return Object.fromEntries(ports.filter(([name]) => receiver || name !== 'RECEIVER_PORT'));
}

export function systemPorts(
  service: Service,
  config: DevConfig,
): Pick<SystemOptions<InterfaceApp | 'webhook-worker'>, 'ports' | 'adminPorts'> {
  const ports = portsOf(config, { receiver: true });
  const portsOfInterfaces = (part: 'PORT' | 'ADMIN_PORT') =>
    Object.fromEntries(
      interfaceNamesOf(service).map((name) => [appOf(name), ports[`${variableOf(name)}_API_${part}`] ?? 0]),
    );
  return {
    ports: portsOfInterfaces('PORT'),
    adminPorts: { ...portsOfInterfaces('ADMIN_PORT'), 'webhook-worker': config.WEBHOOK_WORKER_PORT },
  };
}
