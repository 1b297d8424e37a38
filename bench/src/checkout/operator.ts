import type { InterfaceName } from '@deedwire/firm';
import { startChild } from '../child.ts';
import { inGroups } from '../delivery/workloads.ts';
import { stringAt } from '../services/service-api.ts';
import type { Defer } from '../with-cleanup.ts';
import type { Checkout } from './checkout.ts';

export type Operator = Awaited<ReturnType<typeof startOperator>>;

/** A command with its arguments. */
type CommandLine = readonly string[];

/** Each command opens a connection. */
const commandsAtOnce = 8;
/** What the CLI accepts as a limit: no operation exceeds it. */
const unlimited = ['--maximum', '1000000000', '--restore-rate', '1000000000'];

/** Migrates a database with the operator CLI of a checkout, and prepares its accounts. */
export async function startOperator({ name, folder }: Checkout, databaseUrl: string, defer: Defer) {
  const module = './checkout/operator-process.ts';
  const child = await startChild<readonly CommandLine[], unknown[]>(defer, module, folder.href, databaseUrl);

  async function run(commands: readonly CommandLine[]): Promise<unknown[]> {
    const printed: unknown[] = [];
    for (const group of inGroups(commands, commandsAtOnce)) printed.push(...(await child.ask(group)));
    return printed;
  }

  /** Runs commands that create records, and returns the identifiers of these. */
  async function create(commands: readonly CommandLine[]): Promise<string[]> {
    const created = await run(commands);
    return created.map((each) => stringAt(each, 'id', `What the operator CLI of ${name} creates`));
  }

  await run([['database', 'migrate']]);
  const [organization = ''] = await create([['organization', 'create', '--name', 'Bench']]);

  return {
    run,
    create,

    createAccounts: (interfaceName: InterfaceName, count: number): Promise<string[]> =>
      create(
        Array.from({ length: count }, (_, index) => {
          const command = [interfaceName, 'create', '--organization', organization];
          return [...command, '--name', `Account ${index + 1}`];
        }),
      ),

    /** The headers of a new client of each account. Its operations are charged, but not limited. */
    async issueClients(interfaceName: InterfaceName, accounts: readonly string[]): Promise<Record<string, string>[]> {
      const issue = ['credential', 'issue', '--interface', interfaceName, '--account'];
      const issued = await run(accounts.map((account) => [...issue, account]));
      const clients = issued.map((each) => {
        const text = (path: string): string => stringAt(each, path, `The API key that ${name} issues`);
        return { id: text('clientId'), key: text('apiKey'), organization: text('organizationId') };
      });
      await run(clients.map(({ id }) => ['client', 'set-limit', id, ...unlimited]));
      return clients.map(({ id, key, organization: owner }) => ({
        'X-Service-Client-Id': id,
        'X-Service-API-Key': key,
        'X-Service-Organization-Id': owner,
      }));
    },
  };
}
