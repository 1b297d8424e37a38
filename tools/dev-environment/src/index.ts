export type { AppEnd, AppName, RunningApp } from './app-process.ts';
export { formatLogLine } from './format-log-line.ts';
export { startSystem, type System } from './start-system.ts';
