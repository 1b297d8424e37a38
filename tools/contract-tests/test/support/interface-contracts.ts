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

/** The newest version of each interface: the code behind a webhook field is the same at every version. */
export const newest = interfaceNames.map((name) => ({
  account: name,
  date: testService.interfaces[name].versions.at(-1)?.version ?? '',
}));

/** The interfaces whose credentials another one rejects. */
export function othersThan(name: InterfaceName): InterfaceName[] {
  return interfaceNames.filter((other) => other !== name);
}
