/** A value of several lines is a list of them. */
export type SlotValues = Readonly<Record<string, string | readonly string[]>>;

/**
 * Replaces each `{slot}` by its value. A value of several lines takes the place of a line.
 *
 * @param place for messages: the file that gets the text, and the one that has the values
 * @throws {Error} if a slot has no value
 */
export function fillSlots(values: SlotValues, text: string, { path, file }: { path: string; file: string }): string {
  const known = new Map(Object.entries(values));
  return text.replaceAll(/^( *)\{(\w+)\}$|\{(\w+)\}/gm, (_, indent = '', line?: string, word?: string) => {
    const slot = line ?? word ?? '';
    const value = known.get(slot);
    if (value === undefined) throw new Error(`${path}: {${slot}} has no value in ${file}.`);
    if (word !== undefined && typeof value !== 'string')
      throw new Error(`${path}: {${slot}} has several lines in ${file}, so it needs a separate line.`);
    return [value]
      .flat()
      .map((each) => `${indent}${each}`)
      .join('\n');
  });
}
