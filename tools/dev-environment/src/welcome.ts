import { requestHeaders } from '@deedwire/core';
import { firm, type InterfaceName, interfaceNames } from '@deedwire/firm';
import type { DevFile } from './dev-file.ts';
import { packageManagerCommand } from './workspace.ts';

interface Welcome {
  devFile: DevFile;
  /** Paths to show, relative to the working directory where that is shorter. */
  variablesFiles: Record<InterfaceName, string>;
  /** The URL of the sample receiver. Null without `--receiver`. */
  receiverUrl: string | null;
}

/**
 * The text that `pnpm dev` prints once everything is running: addresses, and commands to copy and paste. It fits a terminal of 80
 * columns and 24 lines, and contains no secret.
 */
export function welcome({ devFile, variablesFiles, receiverUrl }: Welcome): string {
  const headers = requestHeaders(firm);
  const { partner, ...others } = variablesFiles;
  const [first, ...further] = Object.values(others);
  const addresses: [string, string][] = [
    ...interfaceNames.map((name): [string, string] => [`${name} interface`, devFile[name].url]),
    ...Object.entries(devFile.admin).map(([app, url]): [string, string] => [`${app} health`, `${url}/ready`]),
    ...(receiverUrl === null ? [] : [['sample receiver', receiverUrl] as [string, string]]),
    ['credentials', `${partner} (partner), ${first}`],
    ...further.map((file): [string, string] => ['', file]),
  ];
  const width = Math.max(...addresses.map(([name]) => name.length));
  const printer = receiverUrl === null ? '`dev --receiver`' : 'The sample receiver';
  return `Deedwire is running. Press Ctrl-C to stop it.

${addresses.map(([name, url]) => `  ${name.padEnd(width)}  ${url}`).join('\n')}

Open an interface in a browser for GraphiQL, or send a query and cause an event
from a second terminal:

. ${partner}
curl -sS "$DEEDWIRE_URL" -H 'Content-Type: application/json' \\
  -H "${headers.clientId}: $CLIENT_ID" -H "${headers.apiKey}: $API_KEY" \\
  -H "${headers.organizationId}: $ORGANIZATION_ID" \\
  -d '{"query":"{ referrals(first: 3) { nodes { id clientName status } } }"}'
${packageManagerCommand} operator referral create --partner "$PARTNER_ID" \\
  --client-name 'Grace Hopper'

docs/quickstart.md: receive it in your code. ${printer} prints it here.
`;
}
