import { createLogin } from '@deedwire/embedded-postgres';
import { firm, interfaceNames } from '@deedwire/firm';
import { firmCommands } from '@deedwire/firm/commands';
import { type AccountKeyOf, ofAccountsOf } from './account-key.ts';
import { perAppOf } from './app-process.ts';
import type { Application, AppOf, NameOf } from './application.ts';
import { callOperatorOf, type Environment, type OperatorResult } from './call-operator.ts';
import {
  type AppDatabaseUrls as AppDatabaseUrlsOf,
  groupRole,
  interfaceUrlsOf,
  startSystemOf,
  type SystemOf,
  type SystemOptions as SystemOptionsOf,
} from './start-system.ts';

// The application of `pnpm dev` and of the demonstration.

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

/** A value for each sample account. */
export function ofAccounts<Value>(
  valueOf: (key: AccountKey, interfaceName: NameOf<Firm>) => Value | Promise<Value>,
): Promise<Record<AccountKey, Value>> {
  return ofAccountsOf(firm, valueOf);
}

/** As `startSystemOf`. */
export function startSystem(options: SystemOptions): Promise<System> {
  return startSystemOf(firmApplication, options);
}

/** As `interfaceUrlsOf`. */
export function interfaceUrls(system: { apps: Partial<System['apps']> }): Record<NameOf<Firm>, string> {
  return interfaceUrlsOf(firmApplication, system);
}

/** Creates a login for each app in the app's group role, so that each app has only the rights it needs. */
export async function createAppLogins(databaseUrl: string): Promise<AppDatabaseUrls> {
  // Logins belong to the server, not to a database: the name of the database keeps them apart.
  const database = new URL(databaseUrl).pathname.slice(1);
  return perApp((name) => createLogin(databaseUrl, `${database}_${groupRole(name)}`, groupRole(name)));
}

/** Runs `deedwire-operator` in this process. Its environment is `env` only, and its standard input is empty. */
export function callOperator(env: Environment, ...commandArguments: string[]): Promise<OperatorResult> {
  return callOperatorOf({ service: firm, commands: firmCommands }, { env }, ...commandArguments);
}
