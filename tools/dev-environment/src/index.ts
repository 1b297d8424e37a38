export { type AppEnd, type RunningApp, startApp } from './app-process.ts';
export { devVariables } from './dev-file.ts';
export { keepRunning } from './start-system.ts';
export { generateSecretKeys } from '@deedwire/development';
