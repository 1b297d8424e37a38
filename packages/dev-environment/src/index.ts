export { createAppLogins } from './app-logins.ts';
export { startApp, type AppEnd, type AppName, type AppOptions, type RunningApp } from './app-process.ts';
export type { DevAccount, DevSeed } from './dev-state.ts';
export { startReceiver, type ReceivedRequest, type Receiver } from './receiver.ts';
export { ensureOpenReferrals, seed } from './seed.ts';
export {
  generateSecretKeys,
  startSystem,
  type AppDatabaseUrls,
  type System,
  type SystemOptions,
} from './start-system.ts';
