import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { appOf } from '@deedwire/core';
import { firmCommands } from '@deedwire/firm/commands';
import type { InterfaceCode } from '@deedwire/graphql-server';
import { ensureOpenReferrals, seed } from '../../../src/firm/seed.ts';
import { type Firm, firmApplication } from '../../../src/firm/system.ts';
import { workspaceRoot } from '../../../src/workspace.ts';
import type { Seeding, TestedService } from '../../harness/tested-service.ts';

export interface FirmSeeding extends Seeding<Firm> {
  ensureOpenReferrals: typeof ensureOpenReferrals;
}

/** Ids of at least 20 open referrals of `accounts.partner`, oldest first. */
export interface FirmRecords {
  referrals: string[];
}

/** The law firm. */
export const firmTests: TestedService<Firm, FirmSeeding, FirmRecords> = {
  ...firmApplication,
  key: 'firm',
  module: import.meta.url,
  mainInterface: 'partner',
  // By path, because no package can depend on the interfaces that are added later.
  async codeOf(name) {
    const file = join(workspaceRoot, 'apps', appOf(name), `src/${name}-interface.ts`);
    const [code]: InterfaceCode[] = Object.values(await import(pathToFileURL(file).href));
    if (code === undefined) throw new Error(`${appOf(name)} exports no interface.`);
    return code;
  },
  commands: firmCommands,
  seeding: { seed, ensureOpenReferrals },
  seedRecords: async (operator, { partner }, seeding) => ({
    referrals: await seeding.ensureOpenReferrals(operator, partner.id),
  }),
};
