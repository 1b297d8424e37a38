import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failAt } from '../input-error.ts';
import { compareVerdicts, type Verdict } from '../verdict.ts';
import { bumpFor } from '../version-bump.ts';
import type { PackageReport } from '../workspace/check-workspace.ts';
import type { ContractChange } from '../workspace/compare-snapshots.ts';
import { printedLines } from './printed-line.ts';

type Changesets = ReturnType<typeof changesetsFor>;

/** The changesets of the packages that need a larger bump than they declare, each for the changes of one package. */
export function changesetsFor(packages: readonly PackageReport[]) {
  return packages
    .map((each) => ({ ...each, needed: bumpFor(each.verdict, each.baselineVersion) }))
    .filter(({ needed, declared }) => compareVerdicts(declared, needed) < 0)
    .map(({ name, needed, changes }) => ({
      /** In `.changeset/`. The same for each run, so that a later run replaces the file. */
      name: `contract-${name.replaceAll(/[^\w.-]+/g, '-').replace(/^-/, '')}.md`,
      lines: ['---', `${JSON.stringify(name)}: ${needed}`, '---', '', ...textOf(changes)],
    }));
}

/** Writes the changesets to the `.changeset` folder of a workspace. Returns their paths. */
export function writeChangesets(root: string, changesets: Changesets): string[] {
  const folder = join(root, '.changeset');
  if (!existsSync(folder)) failAt(folder, 'folder not found. Run `changeset init`.');
  return changesets.map(({ name, lines }) => {
    const path = join(folder, name);
    writeFileSync(path, printedLines(lines));
    return path;
  });
}

const headings: Readonly<Record<Exclude<Verdict, 'none'>, string>> = {
  major: 'Breaking changes:',
  minor: 'New and deprecated:',
  patch: 'Documentation:',
};

function textOf(changes: readonly ContractChange[]): string[] {
  return (['major', 'minor', 'patch'] as const)
    .map((verdict) => ({ verdict, lines: linesOf(changes.filter((change) => change.verdict === verdict)) }))
    .filter(({ lines }) => lines.length > 0)
    .flatMap(({ verdict, lines }, index) => [...(index === 0 ? [] : ['']), headings[verdict], '', ...lines]);
}

/** One line for each element, with the versions in which it changed. */
function linesOf(changes: readonly ContractChange[]): string[] {
  const byText = Map.groupBy(changes, ({ coordinate, message, why, verdict }) =>
    verdict === 'major' ? `\`${coordinate}\`: ${message} ${why}` : `\`${coordinate}\`: ${message}`,
  );
  return Array.from(byText, ([text, found]) => {
    const files = [...new Set(found.map(({ file }) => file))].toSorted();
    return `- ${text} (${files.join(', ')})`;
  });
}
