import { beginningOf } from './visible-text.ts';

export interface Response {
  readonly responseStatus: number | null;
  readonly responseHeaders: readonly { readonly name: string; readonly value: string }[];
  readonly responseBody: string | null;
  readonly responseBytes: number | null;
}

const length = 200;

/**
 * What an endpoint wrote in a response that is no success: where it redirects to, or the beginning of its body on one line, as it
 * is. Only line breaks and spaces are reduced.
 */
export function firstLineOf(response: Response): { about: string; text: string } {
  const { responseStatus, responseHeaders, responseBody, responseBytes } = response;
  const headerOf = (wanted: string) => responseHeaders.find(({ name }) => name.toLowerCase() === wanted)?.value;
  const location = headerOf('location');
  if (location !== undefined && String(responseStatus).startsWith('3'))
    return { about: 'The endpoint redirects to', text: shortened(location) };
  if (responseBody === null && responseBytes !== 0)
    return { about: 'The body of the response is not text, or was not kept.', text: '' };
  const text = shortened(responseBody ?? '');
  if (text === '') return { about: 'The response has no text.', text };
  const isPage = /^text\/html\b/i.test(headerOf('content-type') ?? '');
  return { about: isPage ? 'The endpoint returned a web page:' : 'The endpoint responded:', text };
}

function shortened(text: string): string {
  // A few kilobytes are enough for a line, however many spaces there are.
  const line = text.slice(0, 4000).trim().replaceAll(/\s+/g, ' ');
  const shown = beginningOf(line, length);
  return shown.length < line.length || text.length > 4000 ? `${shown}…` : shown;
}
