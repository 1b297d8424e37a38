import { serveContract } from '@deedwire/graphql-server';
import { costs, sdl, versions } from '@deedwire/lender-schema';
import { schema20261101 } from './versions/2026-11-01.ts';
import { schema20270201 } from './versions/2027-02-01.ts';

export const lenderInterface = {
  name: 'lender-api',
  interfaceName: 'lender',
  path: '/lenders/graphql',
  /** Every served version, with its schema. */
  contract: serveContract(
    { versions, sdl, costs },
    new Map([
      ['2026-11-01', schema20261101()],
      ['2027-02-01', schema20270201()],
    ]),
  ),
} as const;
