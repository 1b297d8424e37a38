import type { Snapshot } from './event.ts';

export function render({ apiKey: { id, name, abilities, expiresAt }, revokedAt }: Snapshot) {
  return { apiKey: { id, name, abilities, expiresAt }, revokedAt };
}
