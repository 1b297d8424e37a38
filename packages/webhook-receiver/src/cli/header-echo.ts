import type { RequestHeader } from './header-option.ts';

/** Characters in a row that show a part of a header. A shorter text shows it only if it is all of it. */
const runLength = 8;
/** Escapes can be escaped themselves, as in JSON in JSON. */
const maxRounds = 8;
const escapes =
  /\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|%([0-9a-f]{2})|&#x([0-9a-f]{1,8});?|&#(\d{1,8});?|&([a-z]{1,31});|\\([^])/gi;

/**
 * Returns a function for texts of responses, which replaces one that contains a part of the header, for example its credentials, or the
 * password of Basic. It recognizes escapes, base64, and other case. It takes linear time, because responses are foreign.
 */
export function hiderOf(header: RequestHeader | undefined): (text: string) => string {
  if (header === undefined) return (text) => text;
  const parts = partsOf(header.value);
  const runs = new Set([...parts, ...[header.value, ...parts].flatMap(inBase64)].flatMap(runsOf));
  const short = parts.filter((part) => visible(part).length < runLength);
  return (text) => {
    const isShown = runsOf(text).some((run) => runs.has(run)) || short.some((part) => hasWords(text, part));
    return isShown ? '[hidden: it contains a part of the header]' : text;
  };
}

/** What is secret: without a scheme, which responses name. */
function partsOf(value: string): string[] {
  const [, scheme = '', credentials = value] = /^(apikey|basic|bearer|token) +(.*)$/i.exec(value) ?? [];
  const login = /^basic$/i.test(scheme) ? Buffer.from(credentials, 'base64').toString() : '';
  const quoted = [...credentials.matchAll(/"([^"]*)"/g)].map(([, text = '']) => text);
  return [credentials, login, login.replace(/^[^:]*:/, ''), ...quoted].filter((part) => part !== '');
}

/** What base64 of a longer text contains: the bytes before decide how it is aligned. */
function inBase64(text: string): string[] {
  return [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
      .toString('base64')
      .slice(offset && offset + 1)
      .replace(/=+$/, ''),
  );
}

function runsOf(text: string): string[] {
  const shown = visible(text);
  // The second one is the same for base64 and its variant for URLs, and for spaces that a form encodes.
  return [shown, shown.replaceAll(/[^0-9a-z]/g, '')].flatMap((each) =>
    Array.from({ length: Math.max(0, each.length - runLength + 1) }, (_, start) =>
      each.slice(start, start + runLength),
    ),
  );
}

/** Without what escapes and lines add or replace. */
const visible = (text: string): string => decoded(text).replaceAll(/[^!-~]|[\\"'<>&]/g, '');

function hasWords(text: string, part: string): boolean {
  const words = wordsOf(part);
  return words.trim() === '' ? decoded(text).includes(decoded(part)) : wordsOf(text).includes(words);
}

const wordsOf = (text: string): string =>
  ` ${decoded(text)
    .replaceAll(/[^0-9a-z]+/g, ' ')
    .trim()} `;

function decoded(text: string): string {
  let shown = text;
  for (let round = 0; round < maxRounds; round += 1) {
    const next = shown.replaceAll(escapes, (_, ...groups: (string | undefined)[]) => {
      const [unit, byte, percent, hex, decimal, entity, escaped = ''] = groups;
      const code = unit ?? byte ?? percent ?? hex;
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
      if (decimal !== undefined) return String.fromCharCode(Number(decimal));
      if (entity !== undefined) return /^amp$/i.test(entity) ? '&' : '';
      return /[bfnrt]/.test(escaped) ? ' ' : escaped;
    });
    if (next === shown) break;
    shown = next;
  }
  return shown.toLowerCase();
}
