import { readText } from '../../workspace-files.ts';
import type { EventBody } from './example-delivery.ts';

export const eventsFolder = 'packages/webhook-events';

/** The JSON Schema of a payload version, relative to the workspace. */
export function schemaPathOf(type: string, version: string): string {
  return `${eventsFolder}/json-schema/${type}/${version}.json`;
}

export function readTypicalBody(type: string, version: string): EventBody {
  return JSON.parse(readText(`${eventsFolder}/fixtures/${type}/${version}/accept/typical.json`));
}
