const maxCharacters = 200;

/** The beginning of foreign text, for a message: printable ASCII stays, everything else is a `?`. */
export function excerpt(text: string, redact: Readonly<Record<string, string>> = {}): string {
  let shown = text;
  for (const [label, secret] of Object.entries(redact)) shown = shown.replaceAll(secret, `[${label}]`);
  const characters = shown
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^ -~]/g, '?');
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters)}…` : characters;
}
