import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { missing } from '@deedwire/testing';

/** The blocks of code of a language in a section of docs/your-domain.md of a workspace. */
export function blocksOf(folder: string, heading: string, language: 'bash' | 'ts'): string[] {
  const page = readFileSync(join(folder, 'docs/your-domain.md'), 'utf8');
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? missing();
  return Array.from(section.matchAll(/^( *)```(\w+)\n([^]*?)^\1```$/gm)).flatMap(([, indent = '', name, block = '']) =>
    name === language ? [block.replaceAll(new RegExp(`^${indent}`, 'gm'), '')] : [],
  );
}
