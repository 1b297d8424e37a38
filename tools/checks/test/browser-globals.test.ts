import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { run, workspaceRoot } from '../src/run.ts';

/** Checks the sources of a package together with one more file. Returns what the compiler prints. */
async function checkWith(packageName: string, code: string): Promise<string> {
  const packageFolder = join(workspaceRoot, 'packages', packageName);
  const cache = join(packageFolder, 'node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'probe-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'probe.ts'), code);
  const project = {
    extends: join(packageFolder, 'tsconfig.json'),
    compilerOptions: { composite: false, emitDeclarationOnly: false, noEmit: true, rootDir: workspaceRoot },
    include: ['probe.ts', join(packageFolder, 'src')],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const { stdout } = await run('tsc', ['-p', folder, '--pretty', 'false'], folder);
  return stdout;
}

test('browser globals are errors in packages/store', async () => {
  expect(await checkWith('store', 'export const title = document.title;\n')).toBe(
    "probe.ts(1,22): error TS2584: Cannot find name 'document'. Do you need to change your target library? Try changing the 'lib' compiler option to include 'dom'.\n",
  );
});
