import { claimsOf } from '@deedwire/checks';
import type { Generated } from './generated.ts';
import { docsFolder } from './platform-folders.ts';
import { anchor, code, link, page } from './reference/markdown.ts';
import { fileExists, readText } from './workspace-files.ts';

const folder = `${docsFolder}/threats`;

/** The page that lists for each test the sections whose claims it proves. */
export function threats(): Generated {
  const source = `${folder}/claims.md`;
  const proofs = claimsOf(readText(source)).flatMap((claim) => claim.proofs.map(({ file }) => ({ ...claim, file })));
  const lines = [...Map.groupBy(proofs, ({ file }) => file)]
    // A service that is deleted takes its tests along.
    .filter(([file]) => fileExists(file))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([file, claims]) => {
      const sections = [...new Set(claims.map(({ section }) => section))];
      const links = sections.map((section) => link(section, `claims.md${anchor(section)}`));
      return `- ${link(code(file), `../../${file}`)} (${claims.length}): ${links.join(', ')}`;
    });
  const introduction = `The tests that prove ${link('the claims', 'claims.md')} about threats and faults; in parentheses is how many each proves. Read them before you change or delete one.`;
  const text = page('Tests of the claims', [introduction, lines.join('\n')], source);
  return { files: new Map([[`${folder}/tests.md`, text]]) };
}
