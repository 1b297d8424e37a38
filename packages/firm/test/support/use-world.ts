import { type Context, createWorld, resetBeforeEach, type World } from '@deedwire/actions/test-support';
import { firm } from '../../src/index.ts';
import { createLenderReader, type LenderContext } from '../../src/lender/index.ts';
import { createReferral } from '../../src/partner/index.ts';
import { createFirmDatabase } from './database.ts';

export interface FirmWorld extends World<typeof firm> {
  lenderApi: Context & LenderContext;
  refer(partner?: World<typeof firm>['partner']): Promise<string>;
}

/** Creates the world of a test file, which is reset before each test. */
export async function useWorld(): Promise<FirmWorld> {
  const created = await resetBeforeEach(
    createWorld({
      service: firm,
      createDatabase: createFirmDatabase,
      mainInterface: 'partner',
      eventType: 'referral.created',
    }),
  );
  const { lenderApi } = created;
  return Object.assign(created, {
    lenderApi: Object.assign(lenderApi, { lenders: createLenderReader(lenderApi.store) }),
    async refer(by = created.partner) {
      const { referral } = await createReferral(created.partnerApi, by, { clientName: 'Client' });
      if (referral === null) throw new Error('Not referred.');
      return referral.id;
    },
  });
}
