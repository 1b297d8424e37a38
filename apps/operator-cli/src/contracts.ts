import { eventContractsOf } from '@deedwire/actions';
import { interfaceNames } from '@deedwire/domain';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = eventContractsOf(interfaceNames);
