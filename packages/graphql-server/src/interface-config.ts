import { type InterfaceName, interfaceOf, type Service } from '@deedwire/core';
import {
  appConfig,
  clientServerConfig,
  egressAddressesVariable,
  checkPortalOrigin,
  portalOriginVariable,
  readConfig,
  wholeNumberVariable,
} from '@deedwire/service-runtime';
import { z } from 'zod';

const headerFields = z.record(z.string(), z.string());

/** The environment variables of the app of an interface. */
const schemaOf = (service: Service, interfaceName: InterfaceName) => {
  const { port, adminPort } = interfaceOf(service, interfaceName);
  return appConfig(service, { adminPort })
    .safeExtend({
      ...clientServerConfig,
      PORT: clientServerConfig.PORT.default(port),
      /** How long a request waits for the database, in milliseconds, until its response is 503. */
      DATABASE_TIMEOUT_MS: wholeNumberVariable({ min: 500, max: 60_000 }).default(2_500),
      /** `off`: no pages, and no links to them. */
      PORTAL: z.enum(['on', 'off'], 'must be on or off').default('on'),
      PORTAL_ORIGIN: portalOriginVariable().optional(),
      /** Shown to clients, for their firewalls. Nothing compares them with what the worker uses. */
      WEBHOOK_EGRESS_ADDRESSES: egressAddressesVariable(),
      /** A JSON object with the header fields that GraphiQL fills in. GraphiQL is served if NODE_ENV is `development`. */
      GRAPHIQL_HEADERS: z
        .string()
        .default('{}')
        .transform((text, context) => {
          const fields = headerFields.safeParse(parseJson(text));
          if (fields.success) return fields.data;
          context.addIssue('must be a JSON object whose values are strings');
          return z.NEVER;
        }),
    })
    .superRefine(checkPortalOrigin);
};

export type InterfaceConfig = z.output<ReturnType<typeof schemaOf>>;

/**
 * Reads the configuration of the app of an interface.
 *
 * @throws {ConfigError} if a variable is missing or invalid
 */
export function readInterfaceConfig(
  service: Service,
  interfaceName: InterfaceName,
  env: Readonly<Record<string, string | undefined>> = process.env,
): InterfaceConfig {
  return readConfig(schemaOf(service, interfaceName), env);
}

/** Undefined if the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
