export { type AppEnd, type RunningApp, startApp } from './app-process.ts';
export { devVariables } from './dev-file.ts';
export { generateSecretKeys, keepRunning } from './start-system.ts';
