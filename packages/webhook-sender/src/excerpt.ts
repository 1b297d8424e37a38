const maxCharacters = 200;

/**
 * Returns the beginning of untrusted text for use in a message. Runs of white space become one space, and characters
 * other than printable ASCII become `?`. Each value of `redact` is replaced by its key in brackets.
 */
export function excerpt(text: string, redact: Readonly<Record<string, string>> = {}): string {
  let shown = text;
  for (const [label, secret] of Object.entries(redact)) shown = shown.replaceAll(secret, `[${label}]`);
  const characters = shown
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[^ -~]/g, '?');
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters)}…` : characters;
}
