import { interfaceNamesOf, interfaceOf, type Service, variableOf } from '@deedwire/core';
import { findFreePort } from '@deedwire/embedded-postgres/server';
import { appVariables, gidNamespaceVariable, readConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import { z } from 'zod';

const common = {
  DEEDWIRE_HOME: z.string().optional(),
  DATABASE_URL: appVariables.DATABASE_URL.optional(),
  DATABASE_DIRECT_URL: appVariables.DATABASE_DIRECT_URL,
  DATABASE_SCHEMA: appVariables.DATABASE_SCHEMA,
  WEBHOOK_SECRET_KEYS: z.string().optional(),
};

export type DevConfig = z.output<z.ZodObject<typeof common>> & {
  GID_NAMESPACE: string;
  /** Of the interfaces, by their variables. */
  ports: Readonly<Record<string, number>>;
};

/** Of the port of an interface: `CUSTOMER_API_PORT`. */
export const portVariable = (interfaceName: string): string => `${variableOf(interfaceName)}_API_PORT`;

/**
 * Reads the variables of `deedwire dev`. The worker and the interfaces read the rest of the environment.
 *
 * @throws {ConfigError}
 */
export async function readDevConfig(
  service: Service,
  env: Readonly<Record<string, string | undefined>>,
): Promise<DevConfig> {
  const config = readConfig(z.object({ ...common, GID_NAMESPACE: gidNamespaceVariable(service) }), env);
  const variables = interfaceNamesOf(service).map((name) => {
    const port = wholeNumberVariable({ min: 0, max: 65_535 }).prefault(String(interfaceOf(service, name).port));
    return [portVariable(name), port] as const;
  });
  const chosen = Object.entries<number>(readConfig(z.object(Object.fromEntries(variables)), env));
  const ports: Record<string, number> = {};
  // The portal has to know its port before it listens.
  for (const [variable, port] of chosen) ports[variable] = port === 0 ? await findFreePort() : port;
  return { ...config, ports };
}
