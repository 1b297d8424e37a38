import { relative } from 'node:path';
import { readWorkspacePackages } from '@deedwire/release';
import type { Generated } from './generated.ts';
import { fileExists, readText, workspaceRoot } from './workspace-files.ts';

const newProject = '{\n  "extends": "../../tsconfig.package.json",\n  "references": []\n}\n';

/** The width at which the formatter breaks a line. */
const maxWidth = 120;

/**
 * The `references` of each package's `tsconfig.json` are the packages that its `package.json` names. The root references
 * all packages. A package without a `tsconfig.json` gets one.
 */
export function typeReferences(): Generated {
  const packages = readWorkspacePackages(workspaceRoot);
  const folders = new Map(packages.map(({ name, path }) => [name, path]));
  const files = new Map([['tsconfig.json', withReferences('tsconfig.json', [...folders.values()])]]);
  for (const { path, dependencies, devDependencies } of packages) {
    const references = [...new Set([...dependencies, ...devDependencies])].flatMap((name) => {
      const target = folders.get(name);
      return target === undefined ? [] : [relative(path, target)];
    });
    files.set(`${path}/tsconfig.json`, withReferences(`${path}/tsconfig.json`, references));
  }
  return { files };
}

/** Replaces the references in the text of a `tsconfig.json`. Keeps everything else, because a person writes it. */
function withReferences(path: string, references: readonly string[]): string {
  const text = fileExists(path) ? readText(path) : newProject;
  const found = /^ {2}"references": \[[^\]]*\]/m;
  if (!found.test(text)) throw new Error(`${path} has no "references". Add "references": [].`);
  return text.replace(found, () => formatted(references.toSorted().map((reference) => `{ "path": "${reference}" }`)));
}

/** As the formatter writes it. */
function formatted(references: readonly string[]): string {
  const line = `  "references": [${references.join(', ')}]`;
  return line.length <= maxWidth ? line : `  "references": [\n    ${references.join(',\n    ')}\n  ]`;
}
