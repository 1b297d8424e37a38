/** @throws Error when nobody has said yet what it means */
export function meaningOf(words: Readonly<Record<string, string>>, name: string): string {
  const meaning = words[name];
  if (meaning === undefined) throw new Error(`tools/reference/src/words says nothing of ${name}`);
  return meaning;
}
