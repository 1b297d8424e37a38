import { utf16Text, utf8, utf8Text } from './bytes.ts';

/** One request of a capture, for `readCapturedRequest`. */
export interface CapturePart {
  readonly bytes: Uint8Array;
  /** When the request arrived, if the capture says so. */
  readonly receivedAt: Date | null;
}

/**
 * Splits a capture that has several requests: the entries of a HAR file, or the lines of NDJSON. Any other capture is one part.
 * Entries that are not POST are left out. Never throws, whatever the bytes are.
 */
export function splitCapture(capture: Uint8Array): CapturePart[] {
  const text = (utf16Text(capture) ?? utf8Text(capture) ?? '').replace(/^\uFEFF/, '');
  if (!/^\s*\{/.test(text)) return [{ bytes: capture, receivedAt: null }];
  const whole = parsed(text);
  const entries = field(field(whole, 'log'), 'entries');
  if (Array.isArray(entries)) return entries.flatMap(partOfEntry);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (whole !== undefined || lines.length < 2 || !lines.every((line) => line.startsWith('{')))
    return [{ bytes: capture, receivedAt: timeOf(field(whole, 'receivedAt')) }];
  return lines.map((line) => ({ bytes: utf8(line), receivedAt: timeOf(field(parsed(line), 'receivedAt')) }));
}

function partOfEntry(entry: unknown): CapturePart[] {
  const request = field(entry, 'request');
  if (field(request, 'method') !== 'POST') return [];
  const data = field(request, 'postData');
  const name = field(data, 'encoding') === 'base64' ? 'bodyBase64' : 'body';
  const capture = { headers: field(request, 'headers'), [name]: field(data, 'text') };
  return [{ bytes: utf8(JSON.stringify(capture)), receivedAt: timeOf(field(entry, 'startedDateTime')) }];
}

function timeOf(value: unknown): Date | null {
  const time = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(time.getTime()) ? null : time;
}

/** Undefined if the text is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
