export { type AppEnd, type RunningApp, startApp } from './app-process.ts';
export { devVariables } from './dev-file.ts';
export {
  type AppDatabaseUrls,
  type AppName,
  createAppLogins,
  perApp,
  startSystem,
  type System,
} from './firm-system.ts';
export { generateSecretKeys, keepRunning } from './start-system.ts';
