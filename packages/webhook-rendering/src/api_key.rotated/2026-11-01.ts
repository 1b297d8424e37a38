import type { EventSnapshots } from '@deedwire/domain';

export function render({
  apiKey: { id, name, abilities, expiresAt },
  replacedApiKey,
  createdBy,
}: EventSnapshots['api_key.rotated']) {
  return {
    apiKey: { id, name, abilities, expiresAt },
    replacedApiKey: { id: replacedApiKey.id, expiresAt: replacedApiKey.expiresAt },
    createdBy: createdBy && { apiKeyId: createdBy.apiKeyId, portalActor: createdBy.portalActor },
  };
}
