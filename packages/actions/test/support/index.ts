/** What the tests of an application use of ours. */
export { findSharedAddresses } from '../../src/persons/shared-addresses.ts';
export { events, eventTypes, expectRefused, refusals, withoutOutbox } from './operator.ts';
export { type Account, type Context, createWorld, type World } from './world.ts';
export { resetBeforeEach } from './use-world.ts';
