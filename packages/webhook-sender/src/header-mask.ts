/** A request header with a secret value. */
export interface SecretHeader {
  readonly name: string;
  readonly value: string;
}

/** Removes the value of a secret header from what is kept or shown of an attempt: a receiver can echo it. */
export interface HeaderMask {
  /** @param text a header as it was sent or received: decoded as ISO 8859-1 */
  readonly text: (text: string) => string;
  /** @param isCut more followed, so the end can be the beginning of the value */
  readonly body: (bytes: Buffer, isCut: boolean) => Buffer;
}

const label = '[the request header]';

/** Anything shorter is too common to be looked for, unless it is the whole value. */
const minCharacters = 4;

export function headerMask({ value }: SecretHeader): HeaderMask {
  const forms = formsOf(value);
  const text = (shown: string): string => forms.reduce((masked, form) => masked.replaceAll(form, label), shown);
  return {
    text,
    body(bytes, isCut) {
      const masked = text(bytes.toString('latin1'));
      return Buffer.from(isCut ? withoutBeginning(masked, forms) : masked, 'latin1');
    },
  };
}

/** How a response can contain the value: whole or only its credentials, plain or encoded. As bytes in ISO 8859-1, longest first. */
function formsOf(value: string): string[] {
  const [, scheme = '', credentials = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  const decoded = scheme.toLowerCase() === 'basic' ? Buffer.from(credentials, 'base64').toString() : '';
  const password = decoded.slice(decoded.indexOf(':') + 1);
  const plain = [value, ...[credentials, decoded, password].filter(({ length }) => length >= minCharacters)];
  const forms = plain
    .flatMap((text) => [text, ...encodedForms(text)])
    .map((text) => Buffer.from(text).toString('latin1'));
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
}

function encodedForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const base64 = Buffer.from(text).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(text).toString('base64url');
  return [json, json.replaceAll('/', String.raw`\/`), html, encodeURIComponent(text), base64, base64url].filter(
    ({ length }) => length >= minCharacters,
  );
}

/** Replaces an end of the text with which one of the forms begins. */
function withoutBeginning(text: string, forms: readonly string[]): string {
  const last = text.at(-1);
  let longest = 0;
  for (const form of forms)
    for (let length = Math.min(form.length, text.length); length >= minCharacters && length > longest; length -= 1)
      if (form[length - 1] === last && text.endsWith(form.slice(0, length))) longest = length;
  return longest === 0 ? text : `${text.slice(0, text.length - longest)}${label}`;
}
