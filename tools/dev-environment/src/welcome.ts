import { interfaceNamesOf, requestHeaders, type Service } from '@deedwire/core';
import type { FirstSteps } from '@deedwire/operator';
import type { DevCallers, DevFile } from './dev-file.ts';
import { packageManagerCommand } from './workspace.ts';

interface Welcome {
  service: Service;
  /** The value of `--service`, as the operator CLI takes it. Null for the service that the repository deploys. */
  folder: string | null;
  firstSteps: FirstSteps;
  callers: DevCallers;
  admin: DevFile['admin'];
  /** Paths to show, by interface, relative to the working directory where that is shorter. The first one is that of `firstSteps`. */
  variablesFiles: ReadonlyMap<string, string>;
  /** The URL of the sample receiver. Null without `--receiver`. */
  receiverUrl: string | null;
}

/**
 * The text that `pnpm dev` prints once everything is running: addresses, and commands to copy and paste. It fits a terminal of 80
 * columns and 24 lines, and contains no secret.
 */
export function welcome({ service, folder, firstSteps, callers, admin, variablesFiles, receiverUrl }: Welcome): string {
  const headers = requestHeaders(service);
  const { interfaceName, query, command } = firstSteps;
  const [own = '', ...others] = variablesFiles.values();
  const addresses: [string, string][] = [
    ...interfaceNamesOf(service).map((name): [string, string] => [`${name} interface`, callers[name]?.url ?? '']),
    ...Object.entries(admin).map(([app, url]): [string, string] => [`${app} health`, `${url}/ready`]),
    ...(receiverUrl === null ? [] : [['sample receiver', receiverUrl] as [string, string]]),
  ];
  const width = Math.max(...addresses.map(([name]) => name.length));
  const [first = '', ...further] = variablesFilesOnLines([`${own} (${interfaceName})`, ...others], 76 - width);
  addresses.push(['credentials', first], ...further.map((file): [string, string] => ['', file]));
  const printer = receiverUrl === null ? '`dev --receiver`' : 'The sample receiver';
  const chosen = folder === null ? '' : ` --service ${folder}`;
  return `Deedwire is running. Press Ctrl-C to stop it.

${addresses.map(([name, url]) => `  ${name.padEnd(width)}  ${url}`).join('\n')}

Open an interface in a browser for GraphiQL, or send a query and cause an event
from a second terminal:

. ${own}
curl -sS "$DEEDWIRE_URL" -H 'Content-Type: application/json' \\
  -H "${headers.clientId}: $CLIENT_ID" -H "${headers.apiKey}: $API_KEY" \\
  -H "${headers.organizationId}: $ORGANIZATION_ID" \\
  -d '{"query":"${query}"}'
${onLines(`${packageManagerCommand} operator${chosen} ${command}`)}

docs/quickstart.md: receive it in your code. ${printer} prints it here.
`;
}

/** The first two are on one line if it is short enough. */
function variablesFilesOnLines([first = '', second, ...further]: readonly string[], maxLength: number): string[] {
  if (second === undefined) return [first];
  const together = `${first}, ${second}`;
  return together.length <= maxLength ? [together, ...further] : [`${first},`, second, ...further];
}

const longestLine = 78;

/** A shell command with a line break before the options that do not fit. */
function onLines(command: string): string {
  const [first = '', ...options] = command.split(/(?= --)/);
  const lines = [first];
  for (const option of options) {
    const line = `${lines.at(-1)}${option}`;
    if (line.length > longestLine) lines.push(` ${option}`);
    else lines[lines.length - 1] = line;
  }
  return lines.join(' \\\n');
}
