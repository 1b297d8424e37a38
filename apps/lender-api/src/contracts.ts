import { eventContractsOf } from '@deedwire/actions';
import { lenderInterface } from './lender-interface.ts';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  serves: lenderInterface,
  ...eventContractsOf(lenderInterface.service, [lenderInterface.interfaceName]),
};
