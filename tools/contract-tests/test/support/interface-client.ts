import type { SharedSystem } from '@deedwire/dev-environment/harness';
import { postGraphql } from '@deedwire/testing';

interface UserError {
  code: string;
  message: string;
  field: string[] | null;
}

/** The requests of one account to one version of its interface. */
export function createInterfaceClient(t: SharedSystem, account: keyof SharedSystem['accounts'], date: string) {
  const name = t.accounts[account].interfaceName;
  const send = <Result>(query: string, variables: object = {}) =>
    postGraphql<Record<string, Result>>(t.urls[name], t.accounts[account].credential, {
      query,
      variables,
      headers: { 'X-Service-Schema-Version': date },
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
