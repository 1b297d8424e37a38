import { names } from '@deedwire/firm/names';
import { z } from 'zod';
import { readJson } from './read-json.ts';

const valuesOf = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/**
 * Replaces each `{slot}` by its value for an interface, from `own/slots.json`. A value of several lines is a list of them, and takes the
 * place of a line.
 *
 * @param path of the file that gets the text, for messages
 * @throws {Error} if a slot has no value
 */
export function fillSlots(name: string, path: string, text: string): string {
  const file = `packages/${name}-schema/own/slots.json`;
  const values = new Map(Object.entries({ ...readJson(file, valuesOf), headerPrefix: names.headerPrefix }));
  return text.replaceAll(/^( *)\{(\w+)\}$|\{(\w+)\}/gm, (_, indent = '', line?: string, word?: string) => {
    const slot = line ?? word ?? '';
    const value = values.get(slot);
    if (value === undefined) throw new Error(`${path}: {${slot}} has no value in ${file}.`);
    if (word !== undefined && typeof value !== 'string')
      throw new Error(`${path}: {${slot}} has several lines in ${file}, so it needs a separate line.`);
    return [value]
      .flat()
      .map((each) => `${indent}${each}`)
      .join('\n');
  });
}
