import { appConfig, clientServerConfig, wholeNumberVariable } from '@deedwire/service-runtime';
import type { z } from 'zod';

/** The environment variables of the app of an interface. */
export const interfaceConfig = (defaults: { port: number; adminPort: number }) =>
  appConfig(defaults).safeExtend({
    ...clientServerConfig,
    PORT: clientServerConfig.PORT.default(defaults.port),
    /** How long a request waits for the database, in milliseconds, until its response is 503. */
    DATABASE_TIMEOUT_MS: wholeNumberVariable({ min: 500, max: 60_000 }).default(2_500),
  });

export type InterfaceConfig = z.output<ReturnType<typeof interfaceConfig>>;
