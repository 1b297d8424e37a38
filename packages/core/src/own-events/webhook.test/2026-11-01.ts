import type { Snapshot } from './event.ts';

export function render({ message }: Snapshot) {
  return { message };
}
