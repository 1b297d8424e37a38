import { type InterfaceName, interfaceNames, testService } from '@deedwire/core/test-service';
import { contractOf } from '@deedwire/test-service/contracts';

/** The contract of each interface of the test service. */
export const contracts = {
  customer: contractOf('customer'),
  supplier: contractOf('supplier'),
} satisfies Record<InterfaceName, unknown>;

/** Each version of each interface of the test service. */
export const served = interfaceNames.flatMap((name) =>
  testService.interfaces[name].versions.map(({ version }) => ({ account: name, date: version })),
);
