import { webhookSecretProblem } from '@deedwire/webhook-signing/web';

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
    const problem = webhookSecretProblem(secret);
    if (problem !== null) return `secrets[${index}]: ${problem}`;
  }
  return null;
}
