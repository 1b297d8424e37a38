import { eventContractsOf } from '@deedwire/actions';
import { partnerInterface } from './partner-interface.ts';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = {
  serves: partnerInterface,
  ...eventContractsOf(partnerInterface.service, [partnerInterface.interfaceName]),
};
