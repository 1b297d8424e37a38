import type { EventSnapshots } from '@deedwire/domain';

export function render({ apiKey: { id, name, abilities, expiresAt } }: EventSnapshots['api_key.expiring']) {
  return { apiKey: { id, name, abilities, expiresAt } };
}
