import { basename } from 'node:path';
import type { LayoutWithReference } from '@deedwire/layout';
import {
  checkFolder,
  commonApps,
  docsFolder,
  receiverFolder,
  serviceFolder,
  signingFolder,
} from '../platform-folders.ts';
import { fileExists, readText } from '../workspace-files.ts';
import { code, link, page } from './markdown.ts';
import type { PathTo } from './path-to.ts';

/** How many changes a person gets of a package. */
const shown = 10;

/** A change that a release brought. */
export interface ReleasedChange {
  /** Of the package. */
  readonly release: string;
  /** True for a change that breaks what worked. */
  readonly isBreaking: boolean;
  /** Its first sentence, which can contain Markdown. */
  readonly summary: string;
}

/** What is new for each person who works with Deedwire, from the changelogs of the packages that the person uses. */
export function whatsNewPage(layout: LayoutWithReference, pathTo: PathTo): string {
  const persons: [person: string, folders: readonly string[], more: string][] = [
    [
      'You send operations',
      layout.interfaceNames.map(layout.contractOf),
      `The [changelog of each version](README.md#interfaces) has every change of the contract.`,
    ],
    ['You receive webhooks', [receiverFolder, ...payloadFolders(layout), signingFolder], ''],
    [
      'You run Deedwire',
      [...layout.interfaceNames.map(layout.appOf), ...commonApps],
      `${link('Upgrade', pathTo(`${docsFolder}/operations/upgrade.md`))} describes how to install a release.`,
    ],
    ['Your application sends webhooks, or serves an interface', [serviceFolder], ''],
    ['You check contracts', [checkFolder], ''],
  ];
  return page('What is new', [
    `The newest changes, for each person who works with Deedwire. Each package has its own version: the number before a change is that of the release that brought it, the newest first. Releases have no date. ${code('npm ls')} names the versions that your application has.`,
    ...persons.flatMap(([person, folders, more]) => [`## ${person}`, more, ...news(folders, pathTo)]),
  ]);
}

function payloadFolders({ payloads }: LayoutWithReference): string[] {
  return payloads === null ? [] : [payloads];
}

/** The newest changes of each package. A change of several packages is listed with the first of them. */
function news(folders: readonly string[], pathTo: PathTo): string[] {
  const changes = folders.flatMap((folder) => {
    const text = fileExists(`${folder}/CHANGELOG.md`) ? readText(`${folder}/CHANGELOG.md`) : '';
    return readChanges(text)
      .slice(0, shown)
      .map((change) => ({ ...change, folder }));
  });
  const merged = [...Map.groupBy(changes, ({ summary }) => summary).values()];
  const groups = Map.groupBy(merged, ([first]) => first?.folder ?? '');
  return [...groups].flatMap(([folder, lines]) => {
    // A package all of whose changes are here has no heading elsewhere.
    const others = lines.flatMap((all) => all.map((change) => change.folder)).filter((other) => !groups.has(other));
    const here = [folder, ...new Set(others)];
    const links = here.map((each) => link(basename(each), pathTo(each)));
    return [
      `### ${here.map((each) => basename(each)).join(', ')}`,
      `${code('CHANGELOG.md')} of ${links.join(' and of ')} has all changes.`,
      lines.map(newsLine).join('\n'),
    ];
  });
}

/** A change of one or of several packages. */
function newsLine(all: readonly (ReleasedChange & { folder: string })[]): string {
  const [first, ...others] = all;
  const same = others.map(({ folder, release }) => `${code(basename(folder))} ${release}`);
  const breaking = all.some(({ isBreaking }) => isBreaking) ? ', **breaking**' : '';
  return `- **${first?.release}**${same.length > 0 ? ` (with ${same.join(', ')})` : ''}${breaking}: ${first?.summary}`;
}

/** The changes of a changelog as changesets write it, the newest first, without patches. */
export function readChanges(changelog: string): ReleasedChange[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .flatMap((section) => {
      const release = section.split('\n', 1).join();
      return section
        .split(/^### /m)
        .slice(1)
        .filter((part) => /^(?:Major|Minor) Changes$/m.test(part.split('\n', 1).join()))
        .flatMap((part) =>
          [...part.matchAll(/^- (?:[0-9a-f]{7,40}: )?(?:- )?(.+)$/gm)].map(([, text = '']) => ({
            release,
            // Before the first release, nothing worked.
            isBreaking: part.startsWith('Major') && release !== '1.0.0',
            summary: firstSentence(text),
          })),
        );
    });
}

/** A period within a name, such as `referral.created`, ends no sentence. */
function firstSentence(text: string): string {
  const [sentence = text] = /^.*?[.:](?= [A-Z`"]|$)/.exec(text) ?? [];
  return sentence.replace(/:$/, '.');
}
