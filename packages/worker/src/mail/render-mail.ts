import { invisibleCharacters } from '@deedwire/core';

/** A paragraph, or a link with its text. */
export type Block = string | { text: string; url: string };

/** Texts of others on one line, as no header, mail program or screen takes them for something else. */
export function oneLine(text: string): string {
  return text.replaceAll(invisibleCharacters, ' ').replaceAll(/\s+/g, ' ').trim();
}

/**
 * Programs for mail make links of what looks like an address, and an account wrote the names. U+2060 is invisible, and no address has it
 * there.
 */
function withoutLinks(text: string): string {
  return text.replaceAll(/(?<=\S)(?=[.@]\p{L}|:\/\/)/gu, '\u2060');
}

export function toText(blocks: readonly Block[]): string {
  return `${blocks.map((block) => (typeof block === 'string' ? withoutLinks(block) : `${block.text}:\n${block.url}`)).join('\n\n')}\n`;
}

export function toHtml(title: string, blocks: readonly Block[]): string {
  const parts = blocks.map((block) =>
    typeof block === 'string'
      ? `<p>${escapeHtml(withoutLinks(block))}</p>`
      : `<p><a href="${escapeHtml(block.url)}">${escapeHtml(block.text)}</a></p>`,
  );
  const heading = escapeHtml(withoutLinks(title));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${heading}</title>
</head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 36em; overflow-wrap: anywhere">
<main>
<h1 style="font-size: 1.25em">${heading}</h1>
${parts.join('\n')}
</main>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
