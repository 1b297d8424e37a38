import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type InterfaceCode, serveContract } from '@deedwire/graphql-server';
import { abilities, costs, sdl, versions } from '@deedwire/lender-schema';
import { schemas } from './generated/schemas.ts';
import { lenderContext } from './schema/lender-context.ts';

/** What only the app of the interface loads. */
export const lenderInterface = {
  /** Every served version, with its schema. */
  contract: serveContract({ versions, sdl, costs, abilities }, schemas),
  examples: join(createRequire(import.meta.url).resolve('@deedwire/lender-schema/package.json'), '../examples'),
  /** Plugins of Envelop and Yoga: `packages/graphql-server/README.md` says what they can do. */
  plugins: () => [],
  context: lenderContext.create,
} satisfies InterfaceCode;
