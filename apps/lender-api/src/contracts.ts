import { eventContractsOf } from '@deedwire/actions';
import { firm } from '@deedwire/firm';
import { lenderInterface } from './lender-interface.ts';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  serves: { interfaceName: 'lender', ...lenderInterface },
  ...eventContractsOf(firm, ['lender']),
};
