export { readErrorPage, type DocumentedError } from './error-page.ts';
export type { Example, Exchange } from './examples.ts';
export { readInterfaceContracts, type InterfaceContract, type InterfaceVersion } from './interface-contracts.ts';
export { deliveryHeaderDescriptions } from './descriptions/delivery-headers.ts';
