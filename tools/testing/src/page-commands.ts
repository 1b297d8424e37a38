import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * What a reader of a section of a page in Markdown runs, in order: its fenced blocks, without those that show output.
 *
 * @throws {Error} unless the section has as many blocks of this kind as the caller runs
 */
export function commandsOf(page: string, section: string, count: number): string[] {
  const commands: string[] = [];
  let nearest = '';
  for (const [, , language = '', code = '', heading] of page.matchAll(/^( *)```(\w*).*\n([^]*?)^\1```$|^#+ (.*)$/gm)) {
    if (heading !== undefined) nearest = heading;
    else if (nearest === section && ['sh', 'sql', 'js'].includes(language)) commands.push(code);
  }
  if (commands.length !== count) throw new Error(`The section ${section} has ${commands.length} blocks of commands.`);
  return commands;
}

const pages = [
  'README.md',
  'docs/frameworks.md',
  'docs/stores.md',
  'docs/slow-handlers.md',
  'docs/reconcile.md',
  'docs/secrets.md',
  'docs/reference.md',
];

/** The pages of `packages/webhook-receiver`, one after the other, in the order in which tests expect their blocks of code. */
export function readReceiverKitPages(): string {
  return pages
    .map((page) => readFileSync(new URL(`../../../packages/webhook-receiver/${page}`, import.meta.url), 'utf8'))
    .join('\n');
}

/**
 * The block of code of these pages that contains a text.
 *
 * @throws unless exactly one block contains it
 */
export function receiverKitBlock(text: string): string {
  const blocks = [...readReceiverKitPages().matchAll(/^```\w*\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const [found, ...others] = blocks.filter((code) => code.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`Not one block contains ${text}`);
  return found;
}

/** The path of a program on the PATH that has one of these names. Undefined if there is none. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((file) => existsSync(file));
}
