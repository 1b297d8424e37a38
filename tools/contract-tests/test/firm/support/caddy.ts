import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { appOf } from '@deedwire/core';
import { findFreePort } from '@deedwire/embedded-postgres';
import { type InterfaceName, firm, interfaceNames } from '@deedwire/firm';
import { startProxyProcess } from '../../support/proxies/proxy-process.ts';
import { workspaceRoot } from '../../support/workspace-copy.ts';

/**
 * Starts Caddy, which has to be on the PATH, with the Caddyfile of Compose. The names of the containers become ports of this machine,
 * and it listens without TLS.
 */
export async function startCaddy(
  ports: Record<InterfaceName, { port: number }>,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const url = `http://127.0.0.1:${await findFreePort()}`;
  const shipped = await readFile(join(workspaceRoot, 'deploy/compose/Caddyfile'), 'utf8');
  const configuration = interfaceNames.reduce(
    (text, name) => text.replace(`${appOf(name)}:${firm.interfaces[name].port}`, `127.0.0.1:${ports[name].port}`),
    shipped.replace('{$DEEDWIRE_HOST}', `{\n\tadmin off\n}\n${url}`),
  );
  const { stop } = await startProxyProcess('caddy', configuration, () => fetch(url));
  return { url, stop };
}
