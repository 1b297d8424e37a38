export { type AppEnd, type AppName, perApp, type RunningApp, startApp } from './app-process.ts';
export { startSystem, type System } from './start-system.ts';
