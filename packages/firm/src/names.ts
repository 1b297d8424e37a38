import type { Names } from '@deedwire/core';

/**
 * The names by which databases, clients and receivers know the law firm. `pnpm generate` writes them into its contracts. They must not change after
 * the first release: programs of others send and read these headers, and have stored keys and identifiers.
 */
export const names = {
  service: 'law_firm',
  gidNamespace: 'service',
  apiKeyPrefix: 'dw',
  headerPrefix: 'X-Service',
  userAgent: 'Deedwire-Webhooks',
} as const satisfies Names;
