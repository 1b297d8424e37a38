import { interfaceOf, type Service } from '@deedwire/core';
import type { InterfaceConfig } from '@deedwire/graphql-server';
import type { RunningServer } from '@deedwire/service-runtime';
import { type Credential, postGraphql } from '@deedwire/testing';

interface UserError {
  code: string;
  message: string;
  field: string[] | null;
}

/** A harness of any service. */
interface Startable<Name extends string, Accounts> {
  service: Service;
  interfaceNames: readonly Name[];
  accounts: Accounts;
  startApi(name: Name, config?: Partial<InterfaceConfig>): Promise<RunningServer>;
}

/** Starts interfaces of a harness, in this process. */
export async function startInterfaces<Name extends string, Accounts>(
  harness: Startable<Name, Accounts>,
  names: readonly NoInfer<Name>[] = harness.interfaceNames,
  config: Partial<InterfaceConfig> = {},
): Promise<{ accounts: Accounts; urls: Record<Name, string> }> {
  const urls = Object.fromEntries(harness.interfaceNames.map((name) => [name, '']));
  for (const name of names) {
    const api = await harness.startApi(name, config);
    await api.whenReady;
    urls[name] = `${api.url}${interfaceOf(harness.service, name).path}/graphql`;
  }
  return { accounts: harness.accounts, urls: urls as Record<Name, string> };
}

/** The accounts and the interfaces of a system of any service. */
interface Served<Key extends string, Name extends string> {
  accounts: Readonly<Record<Key, { interfaceName: Name; credential: Credential }>>;
  urls: Readonly<Record<Name, string>>;
}

/** The requests of one account to one version of its interface. */
export function createInterfaceClient<Key extends string, Name extends string>(
  t: Served<Key, Name>,
  account: NoInfer<Key>,
  date: string,
) {
  const { interfaceName: name, credential } = t.accounts[account];
  const send = <Result>(query: string, variables: object = {}, headers: Record<string, string> = {}) =>
    postGraphql<Record<string, Result>>(t.urls[name], credential, {
      query,
      variables,
      headers: { 'X-Service-Schema-Version': date, ...headers },
    });

  async function request<Result>(query: string, variables: object = {}): Promise<Result> {
    const { body } = await send<Result>(query, variables);
    const [result] = Object.values(body.data ?? {});
    if (result === undefined) throw new Error(JSON.stringify(body));
    return result;
  }

  const mutate = <Result>(mutation: string, selected: string, input: object) => {
    const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input!`;
    const query = `mutation ($input: ${type}) { ${mutation}(input: $input) { ${selected} userErrors { code message field } } }`;
    return request<Result & { userErrors: UserError[] }>(query, { input });
  };
  return { name, send, request, mutate };
}
