import { type InterfaceName, interfaceNames } from '@deedwire/firm';
import { type InterfaceContract, readDefaultLayout, readInterfaceContracts } from '@deedwire/generate';

export const layout = await readDefaultLayout();

/** The contracts of the law firm, as its reference shows them. */
export const referenceContracts: (InterfaceContract & { name: InterfaceName })[] = readInterfaceContracts(
  layout,
).flatMap((contract) => interfaceNames.filter((name) => name === contract.name).map((name) => ({ ...contract, name })));
