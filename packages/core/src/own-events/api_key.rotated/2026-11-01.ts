import type { Snapshot } from './event.ts';

export function render({ apiKey: { id, name, abilities, expiresAt }, replacedApiKey, createdBy }: Snapshot) {
  return {
    apiKey: { id, name, abilities, expiresAt },
    replacedApiKey: { id: replacedApiKey.id, expiresAt: replacedApiKey.expiresAt },
    createdBy: createdBy && { apiKeyId: createdBy.apiKeyId, portalActor: createdBy.portalActor },
  };
}
