import { join } from 'node:path';
import type { AddActionConfig, ModifyActionConfig } from 'node-plop';

export type Change = AddActionConfig | ModifyActionConfig;

export const preview = { status: 'preview', deprecatedOn: null, sunsetOn: null };

/** Dates sort as strings. */
export function newestOf(versions: unknown): string {
  return Object.keys(Object(versions)).toSorted().at(-1) ?? '';
}

export function withKey(text: string, key: string, value: unknown): string {
  const entries = Object.entries({ ...JSON.parse(text), [key]: value });
  return `${JSON.stringify(Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
}

export function template(name: string, data = {}): { templateFile: string; data: object } {
  return { templateFile: join(import.meta.dirname, `${name}.tpl`), data };
}

export function add(
  path: string,
  content: { data: object } & ({ template: string } | { templateFile: string }),
): Change {
  return { type: 'add', path, ...content };
}

export function addText(path: string, text: string): Change {
  return add(path, { template: '{{{text}}}', data: { text } });
}

/** @param change what the text becomes. If it stays the same, nothing of the recipe is written, and the error names the file */
export function edit(path: string, change: (text: string) => string): Change {
  const transform = (text: string): string => {
    const changed = change(text);
    if (changed === text) throw new Error(`${path} has no place for the change that \`pnpm new\` knows.`);
    return changed;
  };
  return { type: 'modify', path, pattern: '', template: '', transform };
}

export function changeset(name: string, packages: readonly string[]): Change {
  return add(`.changeset/${name}.md`, template('changeset.md', { packages }));
}
