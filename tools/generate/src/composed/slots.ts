import type { Layout } from '@deedwire/layout';
import { readJson } from '@deedwire/layout/read-json';
import { z } from 'zod';
import { fillSlots } from './fill-slots.ts';

const valuesOf = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/**
 * As `fillSlots`, with the values of an interface, from `own/slots.json`, and the header prefix of the service.
 *
 * @param name of the interface
 * @param path of the file that gets the text, for messages
 */
export function fillSlotsOf(
  { names, contractOf }: Pick<Layout, 'names' | 'contractOf'>,
  name: string,
  path: string,
  text: string,
): string {
  const file = `${contractOf(name)}/own/slots.json`;
  return fillSlots({ ...readJson(file, valuesOf), headerPrefix: names.headerPrefix }, text, { path, file });
}
