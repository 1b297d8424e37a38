/** `pnpm site`: installs VitePress into `site/`, a separate workspace, on first use, builds the pages, and serves them. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { serveSite } from '../tools/dev-environment/src/documentation.ts';
import { installWorkspace } from './install-workspace.ts';
import { runScript } from './run-script.ts';

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

await runScript({
  help,
  options: { build: { type: 'boolean' }, base: { type: 'string' }, port: { type: 'string' } },
  async main({ build = false, base = '/', port = '4006' }) {
    if (!installWorkspace(folder, 'VitePress', '100 MB')) {
      process.exitCode = 1;
      return;
    }
    const vitepress = [join(folder, 'node_modules/vitepress/bin/vitepress.js'), 'build', folder];
    const { status } = spawnSync(process.execPath, [...vitepress, '--base', base], { stdio: 'inherit' });
    if (status !== 0) process.exitCode = status ?? 1;
    else if (!build) process.stdout.write(`Serving ${(await serveSite(Number(port))).url}/\n`);
  },
});
