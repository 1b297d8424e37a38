import { relative } from 'node:path';
import type { Generated } from './generated.ts';
import { fileExists, findFiles, readText } from './workspace-files.ts';

const newProject = '{\n  "extends": "../../tsconfig.package.json",\n  "references": []\n}\n';

/** The width at which the formatter breaks a line. */
const maxWidth = 120;

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

/**
 * The `references` of each package's `tsconfig.json` are the packages that its `package.json` names. The root references
 * all packages. A package without a `tsconfig.json` gets one.
 */
export function typeReferences(): Generated {
  const packages = findFiles('{packages,apps,tools}/*/package.json').map((path) => {
    const manifest: Manifest = JSON.parse(readText(path));
    return { folder: path.replace('/package.json', ''), manifest };
  });
  const folders = new Map(packages.map(({ folder, manifest }) => [manifest.name, folder]));
  const files = new Map([['tsconfig.json', withReferences('tsconfig.json', [...folders.values()])]]);
  for (const { folder, manifest } of packages) {
    const { dependencies, devDependencies, peerDependencies } = manifest;
    const references = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }).flatMap((name) => {
      const target = folders.get(name);
      return target === undefined ? [] : [relative(folder, target)];
    });
    files.set(`${folder}/tsconfig.json`, withReferences(`${folder}/tsconfig.json`, references));
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
