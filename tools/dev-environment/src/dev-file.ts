import { variableOf } from '@deedwire/core';
import { names } from '@deedwire/firm/names';
import type { SampleRecords } from '@deedwire/firm/seed';
import type { Credential } from '@deedwire/testing';
import type { DevAccount, DevSeed } from './dev-state.ts';
import { type AccountKey, ofAccounts, type AppName, perApp, interfaceUrls, type System } from './firm-system.ts';

export interface DevCaller extends Credential {
  /** URL of the GraphQL endpoint. */
  url: string;
}

/** The content of `<home>/dev.json`: the URLs, credentials and ids of the running system. */
export interface DevFile extends Record<AccountKey, DevCaller>, SampleRecords {
  /** The URLs of `/health`, `/ready` and `/metrics` of each app, without the path. */
  admin: Record<AppName, string>;
  /** URL with the login of the database owner. */
  databaseUrl: string;
  /** `WEBHOOK_SECRET_KEYS` of the apps. */
  webhookSecretKeys: string;
}

export async function toDevFile(
  system: System,
  seed: DevSeed,
  {
    databaseUrl,
    webhookSecretKeys,
    records,
  }: Pick<DevFile, 'databaseUrl' | 'webhookSecretKeys'> & { records: SampleRecords },
): Promise<DevFile> {
  const urls = interfaceUrls(system);
  return {
    ...(await ofAccounts((key) => ({ url: urls[seed[key].interfaceName], ...seed[key].credential }))),
    admin: await perApp((name) => system.apps[name].adminUrl),
    databaseUrl,
    webhookSecretKeys,
    ...records,
  };
}

/**
 * The content of `<home>/dev.env`, of the sample partner, and of `<home>/<interface>.env`: an account's URL, credentials and webhook
 * secret as variables for POSIX shells, under the names that the programs of the documentation read. No value contains a single
 * quote: all of them are URLs, generated keys or global identifiers.
 */
export function devVariables(caller: DevCaller, { interfaceName, id }: DevAccount, webhookSecret: string): string {
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
