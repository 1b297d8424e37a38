import { type Context, createWorld, type World } from '@deedwire/actions/test-support';
import { afterAll, beforeEach } from 'vitest';
import { firm } from '../../src/index.ts';
import { createLenderReader, type LenderContext } from '../../src/lender/index.ts';
import { createReferral } from '../../src/partner/index.ts';

export interface FirmWorld extends World {
  lenderApi: Context & LenderContext;
  refer(partner?: World['partner']): Promise<string>;
}

/** Creates the world of a test file, which is reset before each test. */
export async function useWorld(): Promise<FirmWorld> {
  const created = await createWorld(firm);
  const { lenderApi } = created;
  const world: FirmWorld = Object.assign(created, {
    lenderApi: Object.assign(lenderApi, { lenders: createLenderReader(lenderApi.store) }),
    async refer(by = created.partner) {
      const { referral } = await createReferral(created.partnerApi, by, { clientName: 'Client' });
      if (referral === null) throw new Error('Not referred.');
      return referral.id;
    },
  });
  beforeEach(() => world.reset());
  afterAll(() => world.close());
  return world;
}
