import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LineCounter, parseDocument } from 'yaml';
import { InputError } from '../input-error.ts';
import { isJsonObject } from '../json/json-value.ts';
import { readSourceText, type SourceText } from '../text-file.ts';
import { isVerdict, largerVerdict, type Verdict } from '../verdict.ts';

/**
 * Reads the largest bump that the pending changesets declare for each package. Empty if there is no `.changeset`
 * folder.
 *
 * @throws {InputError} when a changeset is invalid.
 */
export function readDeclaredBumps(root: string): Map<string, Verdict> {
  const declared = new Map<string, Verdict>();
  for (const file of changesetFiles(join(root, '.changeset'))) {
    for (const [name, bump] of readChangeset(readSourceText(file))) {
      declared.set(name, largerVerdict(declared.get(name) ?? 'none', bump));
    }
  }
  return declared;
}

function changesetFiles(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.md') && name.toLowerCase() !== 'readme.md')
    .toSorted()
    .map((name) => join(folder, name));
}

/** Reads the bumps in the front matter of a changeset. The front matter may be empty. */
function readChangeset({ file, text }: SourceText): [name: string, bump: Verdict][] {
  const front = /^---\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n|$)/m.exec(text);
  if (front === null || text.slice(0, front.index).trim() !== '') {
    throw new InputError(file, 1, 'is not a changeset: it must start with `---`, the bumps of packages, and `---`');
  }
  const counter = new LineCounter();
  const document = parseDocument(front[1] ?? '', { lineCounter: counter });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new InputError(file, counter.linePos(problem.pos[0]).line + 1, problem.message.split('\n', 1)[0] ?? '');
  }
  const bumps: unknown = document.toJS() ?? {};
  if (!isJsonObject(bumps)) throw new InputError(file, 2, 'the front matter must map package names to bumps');
  return Object.entries(bumps).map(([name, bump]) => {
    if (!isVerdict(bump))
      throw new InputError(
        file,
        lineOf(text, name),
        `the bump of ${name} must be major, minor, patch or none, not ${JSON.stringify(bump)}`,
      );
    return [name, bump];
  });
}

function lineOf(text: string, name: string): number {
  return text.slice(0, text.indexOf(name)).split('\n').length;
}
