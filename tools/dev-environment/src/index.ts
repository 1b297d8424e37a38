export type { AppEnd, AppName, RunningApp } from './app-process.ts';
export type { DevAccount, DevSeed } from './dev-state.ts';
export { ensureOpenReferrals, seed } from './seed.ts';
export { startSystem, type AppDatabaseUrls, type System, type SystemOptions } from './start-system.ts';
