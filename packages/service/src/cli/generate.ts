import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '@deedwire/core';
import { beginVersions } from '../generate/begin-versions.ts';
import { generatedFiles } from '../generate/generated-files.ts';
import { findCodeProblems } from '../interface-code.ts';
import { loadService } from './load-service.ts';

/**
 * Writes what is composed of the SDL of the application and the edition of each version, and the schemas of payloads. A version without SDL
 * begins with the files of the version before it. Prints the files that it changes, or that there are none.
 *
 * @param serviceFile the module of the service
 * @throws {ServiceError} if a payload changes on which customers rely. Then it writes nothing
 */
export async function generate(serviceFile: string): Promise<void> {
  const { service } = await loadService(serviceFile);
  for (const [path, text] of beginVersions(service, dirname(serviceFile)))
    write(join(dirname(serviceFile), path), text);
  const files = await filesOf(serviceFile);
  const changed = files.filter(({ isUpToDate }) => !isUpToDate);
  const broken = changed.filter(({ isPromised }) => isPromised).map(problemOf);
  if (broken.length > 0) throw new ServiceError(broken);
  for (const { file, text } of changed) write(file, text);
  if (changed.length === 0) printUpToDate(serviceFile, files.length);
}

function printUpToDate(serviceFile: string, count: number): void {
  const files = count === 1 ? '1 generated file' : `${count} generated files`;
  process.stdout.write(`ok     ${relative(process.cwd(), serviceFile)}, with ${files}\n`);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`wrote  ${relative(process.cwd(), file)}\n`);
}

/**
 * Compares the generated files with their sources, and the code of each version with its SDL. Prints one line for each difference, or that
 * there is none.
 *
 * @returns whether there is none
 */
export async function check(serviceFile: string): Promise<boolean> {
  const files = await filesOf(serviceFile);
  const problems = files.filter(({ isUpToDate }) => !isUpToDate).map(problemOf);
  // Before it is up to date, the code would be compared with a SDL of before.
  if (problems.length === 0) {
    const { service } = await loadService(serviceFile);
    problems.push(...(await findCodeProblems(service, dirname(serviceFile))));
  }
  process.stdout.write(problems.map((problem) => `${problem}\n`).join(''));
  if (problems.length === 0) printUpToDate(serviceFile, files.length);
  return problems.length === 0;
}

async function filesOf(serviceFile: string) {
  const { service } = await loadService(serviceFile);
  const folder = dirname(serviceFile);
  const files = await generatedFiles(service, folder, /^\.m?ts$/.test(extname(serviceFile)));
  return [...files].map(([path, { text, promised }]) => {
    const file = join(folder, path);
    const isWritten = existsSync(file);
    const isUpToDate = isWritten && isSame(path, readFileSync(file, 'utf8'), text);
    return { file, text, isUpToDate, promised, isPromised: isWritten && promised !== null };
  });
}

/** A formatter can write JSON in another way. */
function isSame(path: string, written: string, text: string): boolean {
  if (!path.endsWith('.json')) return written === text;
  try {
    return isDeepStrictEqual(JSON.parse(written), JSON.parse(text));
  } catch {
    return false; // A merge has left its marks.
  }
}

function problemOf({ file, promised, isPromised }: Awaited<ReturnType<typeof filesOf>>[number]): string {
  const path = relative(process.cwd(), file);
  return isPromised
    ? `The payload of ${promised} is not what ${path} promises. Add a version instead. If no customer receives it yet, or you only add optional members, delete the file and run \`deedwire generate\`.`
    : `${path} is out of date: run \`deedwire generate\`.`;
}
