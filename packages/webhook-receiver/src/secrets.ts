import { isWebhookSecret } from '@deedwire/webhook-signing/web';

/**
 * The secrets of the subscription: one, or the old and the new one during a rotation, in any order. Empty only with
 * `awaitingSecret`. A function gets the context of the platform, for example the bindings of a
 * Worker, and may load them from a secret manager; it is called for every request.
 */
export type Secrets<Context> =
  | readonly string[]
  | ((context: Context) => Promise<readonly string[]> | readonly string[]);

/** @returns what is wrong with them, without showing any. Null if nothing is. */
export function secretsProblem(secrets: unknown): string | null {
  if (!Array.isArray(secrets)) return 'secrets must be an array of strings.';
  for (const [index, secret] of secrets.entries()) {
    if (typeof secret === 'string' && isWebhookSecret(secret)) continue;
    return `secrets[${index}] is not a webhook secret: ${problemOf(secret)}.`;
  }
  return null;
}

function problemOf(secret: unknown): string {
  if (typeof secret !== 'string')
    return `it is ${secret === null ? 'null' : typeof secret}, so the variable may not be set`;
  if (secret === '') return 'it is empty, so the variable may not be set';
  if (secret !== secret.trim()) return 'it begins or ends with white space, such as the line feed of a file';
  if (!secret.startsWith('whsec_')) return 'it does not begin with whsec_';
  return 'after whsec_ it needs the canonical base64 of 24 to 64 bytes';
}
