import { randomBytes } from 'node:crypto';
import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { z } from 'zod';

const account = z.object({
  interfaceName: z.string(),
  /** Global identifier. */
  id: z.string(),
  credential: z.object({ clientId: z.string(), apiKey: z.string(), organizationId: z.string() }),
});

const databaseState = z.object({
  webhookSecretKeys: z.string(),
  /** Null until the database is seeded. */
  seed: z.record(z.string(), account).nullable(),
  /** The secret of sample subscriptions. The defaults apply to a state that an older release wrote. */
  webhookSecret: z.string().default(generateWebhookSecret),
  /** The subscriptions of the sample receiver, by interface. `--receiver` creates them. */
  receiverSubscriptionIds: z.record(z.string(), z.string()).default({}),
});

/** The state that a development command keeps between runs. It contains secrets: only the owner may read the file. */
export const homeState = z.object({
  postgresPassword: z.string(),
  /** The last one. */
  postgresPort: z.number().optional(),
  /** Keyed by the mark that the command stores in the database. */
  databases: z.record(z.string(), databaseState),
});

/** An account of an interface, with an API key. */
export type DevAccount = z.output<typeof account>;
/** By their keys: `customer`, and `otherCustomer` in the other organization, if there is one. */
export type DevAccounts = Readonly<Record<string, DevAccount>>;
export type DatabaseState = z.output<typeof databaseState>;
export type HomeState = z.output<typeof homeState>;

/** The state of a database that is not seeded yet. */
export function newDatabaseState(webhookSecretKeys: string): DatabaseState {
  return databaseState.parse({ webhookSecretKeys, seed: null });
}

/** A value of `WEBHOOK_SECRET_KEYS` with one random key. */
export function generateSecretKeys(): string {
  return `dev:${randomBytes(32).toString('base64')}`;
}
