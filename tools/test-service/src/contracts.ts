import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InterfaceName } from '@deedwire/core/test-service';
import * as customer from './customer/contract/src/index.ts';
import * as supplier from './supplier/contract/src/index.ts';

const contracts = { customer, supplier };

export interface ServedContract {
  readonly versions: readonly customer.SchemaVersion[];
  readonly sdl: (version: string) => string;
  readonly costs: (version: string) => customer.OperationCosts;
  readonly abilities: (version: string) => customer.OperationAbilities;
  readonly manifest: (version: string) => Readonly<Record<string, unknown>>;
}

/** The contract of an interface, as a schema package exports it, with the manifest of each version. */
export function contractOf(name: InterfaceName): ServedContract {
  const folder = join(import.meta.dirname, '../src', name, 'contract/versions');
  return {
    ...contracts[name],
    manifest: (version) => JSON.parse(readFileSync(join(folder, `${version}.manifest.json`), 'utf8')),
  };
}
