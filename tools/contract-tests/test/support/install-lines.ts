import { createServer } from 'node:http';
import { listen } from '@deedwire/testing';
import { readPackedPackages } from './packed-packages.ts';

/** Without requests that an installation does not need. */
export const quietNpm = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' };

/** The lines that `pnpm packages` prints for a package manager, one for each package. */
export async function linesFor(manager: 'npm' | 'pnpm' | 'Yarn'): Promise<string[]> {
  const { printed } = await readPackedPackages();
  const [, lines = ''] = new RegExp(`^With ${manager}:\n\n(.*?)\n\n`, 'ms').exec(printed) ?? [];
  return lines.split('\n');
}

/** A registry without our packages: what an `.npmrc` names for `@deedwire`. Others come from that of npm. */
export async function startEmptyRegistry() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  const listening = await listen(server);
  return {
    url: `http://127.0.0.1:${listening.port}/`,
    /** The paths of the requests. */
    asked: asked as readonly string[],
    close: () => listening.close(),
  };
}
