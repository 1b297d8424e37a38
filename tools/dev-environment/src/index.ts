export type { AppEnd, AppName, RunningApp } from './app-process.ts';
export type { DevAccount, DevSeed } from './dev-state.ts';
export { formatLogLine } from './format-log-line.ts';
export { ensureOpenReferrals, seed } from './seed.ts';
export { startSystem, type AppDatabaseUrls, type System, type SystemOptions } from './start-system.ts';
