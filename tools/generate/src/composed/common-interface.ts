import { composeSdl } from '@deedwire/graphql-server/compose-sdl';
import { readJson } from '@deedwire/layout/read-json';
import { buildSchema } from 'graphql';
import type { Generated } from '../generated.ts';
import { commonFolder, serviceFolder } from '../platform-folders.ts';
import { readText } from '../workspace-files.ts';
import { composeManifest, printManifest } from './compose-manifest.ts';
import { sections } from './composed-contracts.ts';
import { readEditions } from './editions.ts';
import { fillSlots } from './fill-slots.ts';

const folder = `${serviceFolder}/common`;

/** What the common half says where the interface of an application would name what it has. */
const slots = {
  eventTypeInDescriptions: 'webhook.test',
  descriptionOfRecordId: [
    'Filter by record: only deliveries of events about the record with this global identifier. The list is empty if you have no such',
    'record.',
  ],
  // `deedwire init` fills it in.
  headerPrefix: '{headerPrefix}',
};

/** The SDL and the manifest of an interface that has nothing but the common half, for each edition that is released. */
export function commonInterface(): Generated {
  const released = readEditions().filter(({ status }) => status === 'current');
  const files = released.flatMap(({ date }, index) => {
    const editions = released.slice(0, index + 1);
    const source = `${commonFolder}/editions/${date}.graphql`;
    const own = { path: `${folder}/own.graphql`, text: readText(`${folder}/own.graphql`) };
    const text = composeSdl(
      `# What every interface has, in edition ${date}.`,
      own,
      editions.map((edition) => {
        const path = `${commonFolder}/editions/${edition.date}.graphql`;
        return { path, text: readText(path), removes: edition.removes };
      }),
    );
    const path = `${folder}/${date}.graphql`;
    const sdl = fillSlots(slots, text, { path, file: source });
    buildSchema(sdl);
    const manifest = composeManifest(
      {},
      editions.map((edition) => readJson(`${commonFolder}/editions/${edition.date}.manifest.json`, sections)),
    );
    return [
      [path, sdl],
      [`${folder}/${date}.manifest.json`, printManifest(manifest)],
    ] as const;
  });
  return { files: new Map(files) };
}
