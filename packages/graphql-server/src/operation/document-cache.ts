/** The limit for all cached documents together. A character of a parsed document takes up to about 150 bytes of memory. */
const maxCharacters = 256 * 1024;
const maxCharactersOfOne = 16 * 1024;

/** Caches a value for each of the most recently used documents. */
export function createDocumentCache<Value>() {
  const entries = new Map<string, Value>();
  let characters = 0;

  return {
    get(document: string): Value | undefined {
      const value = entries.get(document);
      if (value !== undefined) {
        entries.delete(document); // moves it to the end: the least recently used entry comes first
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
