import type { DevSeed } from './dev-state.ts';
import type { System } from './start-system.ts';

interface DevCaller {
  /** Of the GraphQL endpoint. */
  url: string;
  clientId: string;
  apiKey: string;
  organizationId: string;
}

/** `<home>/dev.json`: everything that somebody needs who works with the running system. */
export interface DevFile {
  lender: DevCaller;
  partner: DevCaller;
  /** These two belong to another organization. */
  otherLender: DevCaller;
  otherPartner: DevCaller;
  worker: { url: string };
  /** As the owner of everything in it. */
  databaseUrl: string;
  /** Open referrals of `partner`, at least 20. */
  referrals: string[];
}

export function toDevFile(system: System, seed: DevSeed, databaseUrl: string, referrals: string[]): DevFile {
  const lenderUrl = `${system.apps['lender-api'].url}/lenders/graphql`;
  const partnerUrl = `${system.apps['partner-api'].url}/partners/graphql`;
  return {
    lender: { url: lenderUrl, ...seed.lender.credential },
    partner: { url: partnerUrl, ...seed.partner.credential },
    otherLender: { url: lenderUrl, ...seed.otherLender.credential },
    otherPartner: { url: partnerUrl, ...seed.otherPartner.credential },
    worker: { url: system.apps['webhook-worker'].url },
    databaseUrl,
    referrals,
  };
}
