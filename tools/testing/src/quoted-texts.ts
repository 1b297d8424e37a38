/** A section of a page that quotes what the software emits. */
export interface QuotingSection {
  /** Its heading of level 3. */
  heading: string;
  /** The lines of its blocks that are marked as `text`. */
  quotes: string[];
}

/** The sections of level 3 below the heading of level 2 `part`, in the order of the page. */
export function quotingSections(page: string, part: string): QuotingSection[] {
  const [, ...sections] = `\n${partOf(page, part)}`.split('\n### ');
  return sections.map((section) => ({ heading: section.split('\n', 1)[0] ?? '', quotes: quotedLines(section) }));
}

/** The text below the heading of level 2 `part`. */
export function partOf(page: string, part: string): string {
  const found = page.split(/^## /m).find((text) => text.startsWith(`${part}\n`));
  if (found === undefined) throw new Error(`The page has no part ${JSON.stringify(part)}.`);
  return found;
}

/** The lines of the blocks that are marked as `text`. */
export function quotedLines(text: string): string[] {
  return [...text.matchAll(/^```text\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.trimEnd().split('\n'));
}

/** The quotes that none of the emitted texts equals. In a quote, `…` stands for any characters but a line feed. */
export function staleQuotes(quotes: readonly string[], emitted: readonly string[]): string[] {
  return quotes.filter((quote) => {
    const literals = quote.split('…').map((literal) => literal.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
    const pattern = new RegExp(`^${literals.join('.+')}$`);
    return !emitted.some((text) => pattern.test(text));
  });
}
