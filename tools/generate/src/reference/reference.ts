import type { Generated } from '../generated.ts';
import { readText } from '../workspace-files.ts';
import { withEventTable } from './event-table.ts';
import { referencePages } from './reference-pages.ts';

const folder = 'docs/reference';
const eventsReadme = 'packages/webhook-events/README.md';

/** The pages of `docs/reference`, and the table of event types in the README of `webhook-events`. */
export function reference(): Generated {
  const files = new Map(Array.from(referencePages(), ([path, text]) => [`${folder}/${path}`, text]));
  files.set(eventsReadme, withEventTable(readText(eventsReadme)));
  return { files, folders: [folder] };
}
