import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '@deedwire/embedded-postgres';
import { workspaceRoot } from '../workspace-copy.ts';
import { startProxyProcess } from './proxy-process.ts';

/**
 * Starts HAProxy with a sample of a page of docs/operations.
 *
 * @param name of the page
 * @param begin of the first line of the sample
 * @param adapt puts in the ports of the test
 */
export async function startPageHaproxy(
  name: string,
  begin: string,
  adapt: (sample: string, port: number) => string,
  probe: (port: number) => Promise<unknown>,
) {
  const page = await readFile(join(workspaceRoot, 'docs/operations', name), 'utf8');
  const [, sample = ''] = new RegExp(`^\`\`\`\\n(${begin}\\n(?:.*\\n)+?)\`\`\`$`, 'm').exec(page) ?? [];
  const port = await findFreePort();
  const { stop } = await startProxyProcess('haproxy', adapt(sample, port), () => probe(port));
  return { port, stop };
}
