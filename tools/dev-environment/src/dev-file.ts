import { type Service, variableOf } from '@deedwire/core';
import type { DevAccounts } from '@deedwire/development';
import type { Credential } from '@deedwire/testing';
import type { Application } from './application.ts';
import { interfaceUrlsOf, type SystemOf } from './start-system.ts';

export interface DevCaller extends Credential {
  /** URL of the GraphQL endpoint. */
  url: string;
}

interface SystemFile<App extends string> {
  /** The URLs of `/health`, `/ready` and `/metrics` of each app, without the path. */
  admin: Readonly<Record<App, string>>;
  /** URL with the login of the database owner. */
  databaseUrl: string;
  /** `WEBHOOK_SECRET_KEYS` of the apps. */
  webhookSecretKeys: string;
}

/**
 * The content of `<home>/dev.json`: the URLs, credentials and ids of the running system. It also has the account of each key, and what
 * the seed of the service says of its records.
 */
export type DevFile<
  Key extends string = never,
  App extends string = string,
  Records extends object = object,
> = Readonly<Record<Key, DevCaller>> & Records & SystemFile<App>;

/** The accounts with the URLs of their interfaces, by their keys. */
export type DevCallers = Readonly<Record<string, DevCaller>>;

export function callersOf(application: Application, system: SystemOf<Service>, accounts: DevAccounts): DevCallers {
  const urls = interfaceUrlsOf(application, system);
  return Object.fromEntries(
    Object.entries(accounts).map(([key, { interfaceName, credential }]) => [
      key,
      { url: urls[interfaceName] ?? '', ...credential },
    ]),
  );
}

export function toDevFile(
  { apps }: SystemOf<Service>,
  callers: DevCallers,
  { databaseUrl, webhookSecretKeys, records }: Pick<DevFile, 'databaseUrl' | 'webhookSecretKeys'> & { records: object },
): DevFile {
  const admin = Object.fromEntries(Object.entries(apps).map(([name, { adminUrl }]) => [name, adminUrl]));
  return { ...records, admin, databaseUrl, webhookSecretKeys, ...callers };
}

/**
 * The content of `<home>/dev.env`, of the first account to try, and of `<home>/<interface>.env`: an account's URL, credentials and webhook
 * secret as variables for POSIX shells, under the names that the programs of the documentation read. No value contains a single
 * quote: all of them are URLs, generated keys or global identifiers.
 */
export function devVariables(
  { names }: Pick<Service, 'names'>,
  caller: DevCaller,
  { interfaceName, id }: Pick<DevAccounts[string], 'id' | 'interfaceName'>,
  webhookSecret: string,
): string {
  const variables = {
    DEEDWIRE_URL: caller.url,
    HEADER_PREFIX: names.headerPrefix,
    CLIENT_ID: caller.clientId,
    API_KEY: caller.apiKey,
    ORGANIZATION_ID: caller.organizationId,
    WEBHOOK_SECRET: webhookSecret,
    [`${variableOf(interfaceName)}_ID`]: id,
  };
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
}
