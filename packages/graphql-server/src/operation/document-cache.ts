/** Documents together may have so many characters: parsed, a character takes up to about 150 bytes of memory. */
const maxCharacters = 256 * 1024;
const maxCharactersOfOne = 16 * 1024;

/** Remembers what was made of the documents used last. */
export function createDocumentCache<Value>() {
  const entries = new Map<string, Value>();
  let characters = 0;

  return {
    get(document: string): Value | undefined {
      const value = entries.get(document);
      if (value !== undefined) {
        entries.delete(document); // to the end: the least recently used comes first
        entries.set(document, value);
      }
      return value;
    },
    set(document: string, value: Value): void {
      if (document.length > maxCharactersOfOne || entries.has(document)) return;
      entries.set(document, value);
      characters += document.length;
      for (const oldest of entries.keys()) {
        if (characters <= maxCharacters) break;
        entries.delete(oldest);
        characters -= oldest.length;
      }
    },
  };
}
