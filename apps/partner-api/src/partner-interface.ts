import { serveContract } from '@deedwire/graphql-server';
import { costs, sdl, versions } from '@deedwire/partner-schema';
import { schema20261101 } from './versions/2026-11-01.ts';

export const partnerInterface = {
  name: 'partner-api',
  interfaceName: 'partner',
  path: '/partners/graphql',
  /** Every served version, with its schema. */
  contract: serveContract({ versions, sdl, costs }, new Map([['2026-11-01', schema20261101()]])),
} as const;
