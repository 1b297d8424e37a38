import type { EventSnapshots } from '@deedwire/domain';

export function render({ apiKey: { id, name, abilities, expiresAt }, revokedAt }: EventSnapshots['api_key.revoked']) {
  return { apiKey: { id, name, abilities, expiresAt }, revokedAt };
}
