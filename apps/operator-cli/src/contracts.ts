import { eventContractsOf } from '@deedwire/actions';
import { interfaceNamesOf } from '@deedwire/core';
import { service } from './generated/service.ts';

/** What this build can do. `pnpm build` writes it to `dist/contracts.json`. */
export const contracts = eventContractsOf(service, interfaceNamesOf(service));
