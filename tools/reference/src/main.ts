import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { referencePages } from './reference-pages.ts';
import { workspaceRoot } from './workspace-files.ts';

const folder = join(workspaceRoot, 'docs/reference');
const pages = referencePages();
await rm(folder, { recursive: true, force: true });
for (const [path, text] of pages) {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
