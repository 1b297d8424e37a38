import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningApp } from '@deedwire/dev-environment';

/** @returns whether the process ended within the time */
export function endsWithin({ ended }: RunningApp, ms: number): Promise<boolean> {
  return Promise.race([ended.then(() => true), sleep(ms, false, { ref: false })]);
}
