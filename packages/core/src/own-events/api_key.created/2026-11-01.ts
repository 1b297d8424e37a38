import type { Snapshot } from './event.ts';

export function render({ apiKey: { id, name, abilities, expiresAt }, createdBy }: Snapshot) {
  return {
    apiKey: { id, name, abilities, expiresAt },
    createdBy: createdBy && { apiKeyId: createdBy.apiKeyId, portalActor: createdBy.portalActor },
  };
}
