import { names } from '@deedwire/firm/names';
import { z } from 'zod';
import { fillSlots } from './fill-slots.ts';
import { readJson } from './read-json.ts';

const valuesOf = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/**
 * As `fillSlots`, with the values of an interface, from `own/slots.json`.
 *
 * @param path of the file that gets the text, for messages
 */
export function fillSlotsOf(name: string, path: string, text: string): string {
  const file = `packages/${name}-schema/own/slots.json`;
  return fillSlots({ ...readJson(file, valuesOf), headerPrefix: names.headerPrefix }, text, { path, file });
}
