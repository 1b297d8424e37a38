import type { EventSnapshots } from '@deedwire/domain';

export function render({ apiKey: { id, name, abilities, expiresAt }, createdBy }: EventSnapshots['api_key.created']) {
  return {
    apiKey: { id, name, abilities, expiresAt },
    createdBy: createdBy && { apiKeyId: createdBy.apiKeyId, portalActor: createdBy.portalActor },
  };
}
