import { z } from 'zod';

const account = z.object({
  interfaceName: z.enum(['lender', 'partner']),
  /** Its global identifier. */
  id: z.string(),
  credential: z.object({ clientId: z.string(), apiKey: z.string(), organizationId: z.string() }),
});

const seed = z.object({ lender: account, partner: account, otherLender: account, otherPartner: account });

const databaseState = z.object({
  webhookSecretKeys: z.string(),
  /** Null: not seeded yet. */
  seed: seed.nullable(),
});

/** What a home remembers from one `pnpm dev` to the next. Secrets: the file is for its owner alone. */
export const homeState = z.object({
  postgresPassword: z.string(),
  /** By the mark that the database carries. */
  databases: z.record(z.string(), databaseState),
});

export type DevAccount = z.output<typeof account>;
export type DevSeed = z.output<typeof seed>;
export type DatabaseState = z.output<typeof databaseState>;
export type HomeState = z.output<typeof homeState>;
