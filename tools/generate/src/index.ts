export { readErrorPage } from './reference/error-page.ts';
export { type Example, eventsPath, type Exchange } from './reference/examples.ts';
export {
  readInterfaceContracts,
  type InterfaceContract,
  type InterfaceVersion,
} from './reference/interface-contracts.ts';
export { hasReference, type Layout, readDefaultLayout, readLayout, readLayouts } from '@deedwire/layout';
export { readDeliveryHeaderDescriptions } from './reference/descriptions.ts';
