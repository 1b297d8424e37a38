import type { ProcessUsage } from './app-process.ts';

/** What this process has used since it started. */
export function ownUsage(): ProcessUsage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, residentBytes: process.memoryUsage.rss() };
}
