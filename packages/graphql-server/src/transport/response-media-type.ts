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
  // Without any media range, the header expresses no preference.
  if (!/[/*]/.test(accept)) return 'application/json';
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
    const [name, value = ''] = parameter.split('=').map((part) => part.trim());
    if (name === 'q') quality = parseWeight(value);
    if (name === 'charset' && !isUtf8(value)) return [];
  }
  // Java's HttpURLConnection sends `*` besides `*/*`.
  return [{ type: type === '*' ? '*/*' : type, quality }];
}

/** A malformed weight must not make a type unacceptable, so only a written zero counts as 0. */
function parseWeight(value: string): number {
  const weight = value === '' ? 1 : Number(value);
  return weight >= 0 ? Math.min(weight, 1) : 1;
}

export function isUtf8(charset: string): boolean {
  return /^"?utf-?8"?$/i.test(charset);
}
