import { sep } from 'node:path';

const ending = /\.d\.[cm]?ts$/;

export function isDeclarationFile(file: string): boolean {
  return ending.test(file);
}

/** The path of a declaration file without its ending, with `/` as the separator. */
export function withoutEnding(file: string): string {
  return file.replace(ending, '').replaceAll(sep, '/');
}
