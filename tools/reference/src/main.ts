import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

// Imports the pages dynamically, because the modules of the contracts can already fail when they are imported.
try {
  const [{ referencePages }, { withEventTable }, { workspaceRoot }] = await Promise.all([
    import('./reference-pages.ts'),
    import('./event-table.ts'),
    import('./workspace-files.ts'),
  ]);
  const folder = join(workspaceRoot, 'docs/reference');
  const pages = referencePages();
  const eventsReadme = join(workspaceRoot, 'packages/webhook-events/README.md');
  const eventsText = withEventTable(await readFile(eventsReadme, 'utf8'));
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of pages) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  await writeFile(eventsReadme, eventsText);
} catch (error) {
  // A contract or an example is wrong, not the generator: the message says what to change, and a stack trace would hide it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
