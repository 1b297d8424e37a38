export { CannotStartError, describeStartError } from './cannot-start-error.ts';
export {
  createDevPortalLink,
  headersOf,
  seedContext,
  withLiveCredential,
  withNewCredential,
  withSeedContext,
} from './credentials.ts';
export { claimDatabase, type DevDatabase, migrateDevDatabase, openDevDatabase } from './database.ts';
export { type DatabaseState, type DevAccount, type DevAccounts, generateSecretKeys } from './dev-state.ts';
export { type Home, openHome, writePrivately } from './home.ts';
export { watchParents } from './parent-chain.ts';
export { requireFreePorts } from './ports.ts';
export { pauseReceiver, type Subscriber, subscribeReceiver } from './subscribe-receiver.ts';
export { fail, onOutputLost, print } from './terminal.ts';
