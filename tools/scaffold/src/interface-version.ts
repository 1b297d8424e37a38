import type { Changes } from './changes.ts';
import { instruction } from './instruction.ts';
import { checkDate, compact } from './names.ts';
import { ScaffoldError } from './scaffold-error.ts';

export const interfaceNames = ['lender', 'partner'];

export interface InterfaceVersionRequest {
  readonly interfaceName: string;
  readonly date: string;
  /** `YYYY-MM-DD` in UTC. */
  readonly today: string;
}

/**
 * Plans a new version of an interface, a preview that equals the newest version.
 *
 * @returns a sentence that describes what was planned
 * @throws {ScaffoldError} when the interface does not exist, or the date is wrong
 */
export function planInterfaceVersion(changes: Changes, request: InterfaceVersionRequest): string {
  const { interfaceName, date, today } = request;
  if (!interfaceNames.includes(interfaceName))
    throw new ScaffoldError(
      `There is no interface ${JSON.stringify(interfaceName)}. The interfaces are ${interfaceNames.join(' and ')}.`,
    );
  const [schema, app] = [`packages/${interfaceName}-schema`, `apps/${interfaceName}-api`];
  const newest = Object.keys(JSON.parse(changes.read(`${schema}/versions.json`)))
    .toSorted()
    .at(-1);
  if (newest === undefined) throw new ScaffoldError(`${schema}/versions.json lists no version.`);
  checkDate(date, newest, today);
  const [older, newer] = [`schema${compact(newest)}`, `schema${compact(date)}`];

  changes.create(
    `${schema}/versions/${date}.graphql`,
    nextSdl(changes.read(`${schema}/versions/${newest}.graphql`), newest, date),
  );
  changes.create(
    `${schema}/versions/${date}.manifest.json`,
    changes.read(`${schema}/versions/${newest}.manifest.json`),
  );
  changes.edit(`${schema}/versions.json`, (text) =>
    text.replace(/\n\}\s*$/, `,\n  "${date}": { "status": "preview", "deprecatedOn": null, "sunsetOn": null }\n}\n`),
  );
  changes.create(
    `${app}/src/versions/${date}.ts`,
    changes
      .read(`${app}/src/versions/${newest}.ts`)
      .replace(
        new RegExp(String.raw`^export function ${older}\(`, 'm'),
        `// ${instruction(`build what differs from ${newest}. Then remove this line.`)}\nexport function ${newer}(`,
      ),
  );
  changes.edit(`${app}/src/${interfaceName}-interface.ts`, (text) =>
    text
      .replace(/^import \{ schema\d/m, `import { ${newer} } from './versions/${date}.ts';\n$&`)
      .replace(`['${newest}', ${older}()]`, `['${newest}', ${older}()], ['${date}', ${newer}()]`),
  );
  changes.edit('tools/contract-tests/src/schema-packages.test.ts', (text) =>
    text.replace(
      new RegExp(String.raw`(name: '${interfaceName}',[\s\S]*?expectedVersions: \[[\s\S]*?),?\s*\],\n {2}\},`),
      (_, before: string) =>
        `${before}, { version: '${date}', status: 'preview', deprecatedOn: null, sunsetOn: null }],\n  },`,
    ),
  );
  changes.create(
    `.changeset/${interfaceName}-interface-${date}.md`,
    `---
'@deedwire/${interfaceName}-schema': minor
'@deedwire/${interfaceName}-api': minor
---

The ${interfaceName} interface has a preview of version ${date}.

<!-- ${instruction(`what differs from ${newest}, for those who call it. Then remove this comment.`)} -->
`,
  );
  return `Version ${date} of the ${interfaceName} interface, a preview that equals ${newest} until you change it.`;
}

function nextSdl(text: string, newest: string, date: string): string {
  const [title = '', ...rest] = text.split('\n');
  const body = rest.join('\n').replace(/^(?:#[^\n]*\n)+/, '');
  const difference = `# Difference from ${newest}: ${instruction('what differs, in one line. Change the types below.')}`;
  return `${title.replace(newest, date)}\n${difference}\n${body}`;
}
