import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InterfaceName } from '@deedwire/core/test-service';
import {
  abilities as abilitiesOfCustomer,
  type OperationAbilities,
} from '../contracts/customer/src/generated/abilities.ts';
import { costs as costsOfCustomer, type OperationCosts } from '../contracts/customer/src/generated/costs.ts';
import { sdl as sdlOfCustomer } from '../contracts/customer/src/generated/sdl.ts';
import { type SchemaVersion, versions as versionsOfCustomer } from '../contracts/customer/src/generated/versions.ts';
import { abilities as abilitiesOfSupplier } from '../contracts/supplier/src/generated/abilities.ts';
import { costs as costsOfSupplier } from '../contracts/supplier/src/generated/costs.ts';
import { sdl as sdlOfSupplier } from '../contracts/supplier/src/generated/sdl.ts';
import { versions as versionsOfSupplier } from '../contracts/supplier/src/generated/versions.ts';

const generated = {
  customer: {
    abilities: abilitiesOfCustomer,
    costs: costsOfCustomer,
    sdl: sdlOfCustomer,
    versions: versionsOfCustomer,
  },
  supplier: {
    abilities: abilitiesOfSupplier,
    costs: costsOfSupplier,
    sdl: sdlOfSupplier,
    versions: versionsOfSupplier,
  },
};

export interface ServedContract {
  readonly versions: readonly SchemaVersion[];
  readonly sdl: (version: string) => string;
  readonly costs: (version: string) => OperationCosts;
  readonly abilities: (version: string) => OperationAbilities;
  readonly manifest: (version: string) => Readonly<Record<string, unknown>>;
}

/** The contract of an interface, as a schema package exports it, with the manifest of each version. */
export function contractOf(name: InterfaceName): ServedContract {
  const folder = join(import.meta.dirname, '../contracts', name, 'versions');
  return {
    ...generated[name],
    manifest: (version) => JSON.parse(readFileSync(join(folder, `${version}.manifest.json`), 'utf8')),
  };
}
