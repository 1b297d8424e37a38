import { updateApiKeyLastUse } from '@deedwire/store/credentials';
import type { ActionContext } from '../context.ts';

/** Records when a key was last used. An earlier time than the recorded one changes nothing. */
export async function recordApiKeyUse(context: ActionContext, keyId: string, at: Date): Promise<void> {
  await updateApiKeyLastUse(context.store, keyId, at);
}
