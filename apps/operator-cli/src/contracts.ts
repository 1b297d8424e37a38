import { eventContractsOf } from '@deedwire/actions';
import { firm, interfaceNames } from '@deedwire/firm';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = eventContractsOf(firm, interfaceNames);
