import { eventContractsOf } from '@deedwire/actions';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = eventContractsOf(['lender', 'partner']);
