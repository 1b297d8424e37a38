import { firm, interfaceNames } from '@deedwire/firm';
import { firmCommands } from '@deedwire/firm/commands';
import type { AccountKeyOf } from '../account-key.ts';
import { perAppOf } from '../app-process.ts';
import type { Application, AppOf, NameOf } from '../application.ts';
import { callOperatorOf, type Environment, type OperatorResult } from '../call-operator.ts';
import {
  type AppDatabaseUrls as AppDatabaseUrlsOf,
  createAppLoginsOf,
  interfaceUrlsOf,
  startSystemOf,
  type SystemOf,
  type SystemOptions as SystemOptionsOf,
} from '../start-system.ts';

// The application of the demonstration.

export type Firm = typeof firm;
export type AppName = AppOf<Firm>;
export type AccountKey = AccountKeyOf<Firm>;
export type AppDatabaseUrls = AppDatabaseUrlsOf<AppName>;
export type System = SystemOf<Firm>;
export type SystemOptions = SystemOptionsOf<AppName>;

export const firmApplication: Application<Firm> = { service: firm, interfaceNames };

/** A value for each app. */
export function perApp<Value>(valueOf: (name: AppName) => Value | Promise<Value>): Promise<Record<AppName, Value>> {
  return perAppOf(firmApplication, valueOf);
}

/** As `startSystemOf`. */
export function startSystem(options: SystemOptions): Promise<System> {
  return startSystemOf(firmApplication, options);
}

/** As `interfaceUrlsOf`. */
export function interfaceUrls(system: { apps: Partial<System['apps']> }): Record<NameOf<Firm>, string> {
  return interfaceUrlsOf(firmApplication, system);
}

/** As `createAppLoginsOf`. */
export function createAppLogins(databaseUrl: string): Promise<AppDatabaseUrls> {
  return createAppLoginsOf(firmApplication, databaseUrl);
}

/** Runs `deedwire-operator` in this process. Its environment is `env` only, and its standard input is empty. */
export function callOperator(env: Environment, ...commandArguments: string[]): Promise<OperatorResult> {
  return callOperatorOf({ service: firm, commands: firmCommands }, { env }, ...commandArguments);
}
