import type { z } from 'zod';
import { hostVariable, wholeNumberVariable } from './config-variables.ts';
import { httpLimits } from './http/http-limits.ts';
import { trustedProxiesVariable } from './trusted-proxies.ts';

/** The variables of a process that serves clients. Spread them into the app's own object, and give PORT a default there. */
export const clientServerConfig = {
  /** 0 picks a free port. */
  PORT: wholeNumberVariable({ min: 0, max: 65_535 }),
  /** Defaults to every address of the machine. */
  HOST: hostVariable().optional(),
  /** All open connections. */
  MAX_CONNECTIONS: wholeNumberVariable({ min: 1, max: 1_000_000 }).default(httpLimits.connections),
  /** Open connections of one address without a valid API key. */
  MAX_CONNECTIONS_PER_ADDRESS: wholeNumberVariable({ min: 1, max: 1_000_000 }).default(
    httpLimits.connectionsPerAddress,
  ),
  /** Open connections of one client. */
  MAX_CONNECTIONS_PER_CLIENT: wholeNumberVariable({ min: 1, max: 1_000_000 }).default(httpLimits.connectionsPerClient),
  /** How long an idle connection stays open. Longer than in the proxies between clients and the server. */
  KEEP_ALIVE_TIMEOUT_MS: wholeNumberVariable({ min: 5_000, max: 650_000 }).default(httpLimits.keepAliveTimeout),
  /** Whose `Forwarded` and `X-Forwarded-For` headers count, for example the addresses of load balancers. */
  TRUSTED_PROXIES: trustedProxiesVariable(),
};

export type ClientServerConfig = z.output<z.ZodObject<typeof clientServerConfig>>;
