import { eventContractsOf } from '@deedwire/actions';
import { firm } from '@deedwire/firm';
import { partnerInterface } from './partner-interface.ts';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  serves: { interfaceName: 'partner', ...partnerInterface },
  ...eventContractsOf(firm, ['partner']),
};
