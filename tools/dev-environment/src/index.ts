export { type AppEnd, type AppName, perApp, type RunningApp, startApp } from './app-process.ts';
export { devVariables } from './dev-file.ts';
export {
  type AppDatabaseUrls,
  createAppLogins,
  generateSecretKeys,
  keepRunning,
  startSystem,
  type System,
} from './start-system.ts';
