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
    `The newest changes, for each person who works with Deedwire. ${code('CHANGELOG.md')} of each package lists all, with corrections.`,
    ...persons.flatMap(([person, folders, more]) => [`## ${person}`, more, news(folders, pathTo)]),
  ]);
}

function payloadFolders({ payloads }: LayoutWithReference): string[] {
  return payloads === null ? [] : [payloads];
}

/** The newest changes of packages. One of several packages is a line. */
function news(folders: readonly string[], pathTo: PathTo): string {
  const changes = folders.flatMap((folder) => {
    const name = link(code(basename(folder)), pathTo(folder));
    const text = fileExists(`${folder}/CHANGELOG.md`) ? readText(`${folder}/CHANGELOG.md`) : '';
    return readChanges(text)
      .slice(0, shown)
      .map(({ release, ...change }) => ({ ...change, release: `${name} ${release}` }));
  });
  return [...Map.groupBy(changes, ({ summary }) => summary)]
    .map(([summary, all]) => {
      const breaking = all.some(({ isBreaking }) => isBreaking) ? ', **breaking**' : '';
      return `- ${all.map(({ release }) => release).join(', ')}${breaking}: ${summary}`;
    })
    .join('\n');
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
