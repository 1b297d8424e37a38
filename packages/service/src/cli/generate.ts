import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { generatedFiles } from '../generate/generated-files.ts';
import { interfaceCode } from '../interface-code.ts';
import { loadService } from './load-service.ts';

/**
 * Writes what is composed of the SDL of the application and the edition of each version, and prints the files that it changes.
 *
 * @param serviceFile the module of the service
 */
export async function generate(serviceFile: string): Promise<void> {
  for (const { file, text, isUpToDate } of await filesOf(serviceFile)) {
    if (isUpToDate) continue;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote  ${relative(process.cwd(), file)}\n`);
  }
}

/**
 * Compares the generated files with their sources, and the code of each version with its SDL.
 *
 * @returns one line for each difference
 */
export async function check(serviceFile: string): Promise<string[]> {
  const outOfDate = (await filesOf(serviceFile)).filter(({ isUpToDate }) => !isUpToDate);
  // The code would be compared with a SDL of before.
  if (outOfDate.length > 0)
    return outOfDate.map(({ file }) => `${relative(process.cwd(), file)} is out of date: run \`deedwire generate\`.`);
  const { service } = await loadService(serviceFile);
  const problems: string[] = [];
  for (const name of Object.keys(service.interfaces)) {
    const { contract } = await interfaceCode(service, name, dirname(serviceFile));
    problems.push(...contract.problems.map((problem) => `${name}: ${problem}`));
  }
  return problems;
}

async function filesOf(serviceFile: string) {
  const { service } = await loadService(serviceFile);
  const folder = dirname(serviceFile);
  const files = await generatedFiles(service, folder, /^\.m?ts$/.test(extname(serviceFile)));
  return [...files].map(([path, text]) => {
    const file = join(folder, path);
    return { file, text, isUpToDate: existsSync(file) && readFileSync(file, 'utf8') === text };
  });
}
