import type { ResponseMediaType } from '../errors/error-table.ts';

interface Range {
  type: string;
  quality: number;
}

/**
 * Chooses the media type of the response by the Accept header (RFC 9110, 12.5.1). Returns null if neither type is
 * acceptable. A client that does not name `application/graphql-response+json` gets `application/json`, even for a wildcard.
 */
export function negotiateMediaType(accept: string | undefined): ResponseMediaType | null {
  // Most clients send this.
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  if (accept.trim() === '') return 'application/json';
  const ranges = accept.split(',').flatMap(parseRange);
  const qualityOf = (...types: string[]) =>
    types
      .map((type) => ranges.find((range) => range.type === type)?.quality)
      .find((quality) => quality !== undefined) ?? 0;

  const named = qualityOf('application/graphql-response+json');
  const json = qualityOf('application/json', 'application/*', '*/*');
  if (named > 0 && named >= json) return 'application/graphql-response+json';
  return json > 0 ? 'application/json' : null;
}

/** Returns nothing for a range with a character set other than UTF-8, because JSON is always UTF-8. */
function parseRange(text: string): Range[] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  let quality = 1;
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=');
    if (name === 'q') quality = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(value) ? Number(value) : 0;
    if (name === 'charset' && !isUtf8(value)) return [];
  }
  return [{ type, quality }];
}

export function isUtf8(charset: string): boolean {
  return /^"?utf-?8"?$/i.test(charset);
}
