/** `pnpm site`: installs VitePress into `site/`, a separate workspace, on first use, builds the pages, and serves them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { serveSite } from '../tools/dev-environment/src/documentation.ts';
import { endWithReader } from './end-with-reader.ts';
import { installWorkspace } from './install-workspace.ts';

endWithReader();

const help = `Usage: pnpm site [options]

Builds the pages of this repository into site/dist, a static site with search, and serves it. A link to a page that does
not exist fails. While the folder exists, \`pnpm dev\` serves it and links to it.

Options:
  --build      build it only, for any web server
  --base PATH  the path at which that server has it. Default: /
  --port PORT  default 4006; 0 selects a free port
  --help       show this help
`;

const folder = join(import.meta.dirname, '../site');

async function site(): Promise<number> {
  const [flag, text] = [{ type: 'boolean' }, { type: 'string' }] as const;
  const { values } = parseArgs({ options: { build: flag, base: text, port: text, help: flag } });
  if (values.help === true) process.stdout.write(help);
  if (values.help === true) return 0;
  if (!installWorkspace(folder, 'VitePress', '100 MB')) return 1;
  const vitepress = [join(folder, 'node_modules/vitepress/bin/vitepress.js'), 'build', folder];
  const { status } = spawnSync(process.execPath, [...vitepress, '--base', values.base ?? '/'], { stdio: 'inherit' });
  if (status !== 0 || values.build === true) return status ?? 1;
  process.stdout.write(`Serving ${(await serveSite(Number(values.port ?? 4006))).url}/\n`);
  return 0;
}

try {
  process.exitCode = await site();
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n\n${help}`);
  process.exitCode = 2;
}
