/** @throws {Error} if the name has no description */
export function descriptionOf(descriptions: Readonly<Record<string, string>>, name: string): string {
  const description = descriptions[name];
  if (description === undefined)
    throw new Error(`Add a description of ${name} to tools/generate/src/reference/descriptions.`);
  return description;
}
