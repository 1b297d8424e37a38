import { generateWebhookSecret } from '@deedwire/webhook-signing';
import { z } from 'zod';

const account = z.object({
  interfaceName: z.enum(['lender', 'partner']),
  /** Global identifier. */
  id: z.string(),
  credential: z.object({ clientId: z.string(), apiKey: z.string(), organizationId: z.string() }),
});

const seed = z.object({ lender: account, partner: account, otherLender: account, otherPartner: account });

const databaseState = z.object({
  webhookSecretKeys: z.string(),
  /** Null until the database is seeded. */
  seed: seed.nullable(),
  /** The secret of sample subscriptions. The defaults apply to a state that an older `pnpm dev` wrote. */
  webhookSecret: z.string().default(generateWebhookSecret),
  /** The partner's subscription of the sample receiver. Null until `pnpm dev --receiver` creates it. */
  receiverSubscriptionId: z.string().nullable().default(null),
  /** The same of the lender. */
  lenderReceiverSubscriptionId: z.string().nullable().default(null),
});

/** The state that `pnpm dev` keeps between runs. It contains secrets: only the owner may read the file. */
export const homeState = z.object({
  postgresPassword: z.string(),
  /** Keyed by the mark that `pnpm dev` stores in the database. */
  databases: z.record(z.string(), databaseState),
});

export type DevAccount = z.output<typeof account>;
export type DevSeed = z.output<typeof seed>;
export type DatabaseState = z.output<typeof databaseState>;
export type HomeState = z.output<typeof homeState>;

/** The state of a database that is not seeded yet. */
export function newDatabaseState(webhookSecretKeys: string): DatabaseState {
  return databaseState.parse({ webhookSecretKeys, seed: null });
}
