import type { Harness, SharedSystem } from '@deedwire/dev-environment/harness';
import { type InterfaceName, firm, interfaceNames, perInterface } from '@deedwire/firm';
import { postGraphql } from '@deedwire/testing';

interface UserError {
  code: string;
  message: string;
  field: string[] | null;
}

type Served = Pick<SharedSystem, 'accounts' | 'urls'>;

/** Starts interfaces of a harness, in this process. */
export async function startInterfaces(
  harness: Harness,
  names: readonly InterfaceName[] = interfaceNames,
  config: Parameters<Harness['startApi']>[1] = {},
): Promise<Served> {
  const urls: Record<InterfaceName, string> = perInterface(() => '');
  for (const name of names) {
    const api = await harness.startApi(name, config);
    await api.whenReady;
    urls[name] = `${api.url}${firm.interfaces[name].path}/graphql`;
  }
  return { accounts: harness.accounts, urls };
}

/** The requests of one account to one version of its interface. */
export function createInterfaceClient(t: Served, account: keyof Served['accounts'], date: string) {
  const name = t.accounts[account].interfaceName;
  const send = <Result>(query: string, variables: object = {}, headers: Record<string, string> = {}) =>
    postGraphql<Record<string, Result>>(t.urls[name], t.accounts[account].credential, {
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
