import type { Random } from './random.ts';

const texts = [
  '',
  ' ',
  '\0',
  '\u{1F600}',
  '\uD800',
  'x'.repeat(3000),
  '__proto__',
  'constructor',
  'gid://service/Customer/1',
  'gid://service/WebhookSubscription/9223372036854775807',
  'gid://other/Customer/1',
  'order.placed',
  'api_key.created',
  '2026-11-01',
  // Refused before any request is sent.
  'ftp://127.0.0.1/',
  'http://user@127.0.0.1/',
  "'; drop table account; --",
] as const;
const numbers = [0, -1, 1, 100, 101, 2 ** 31, -(2 ** 31), 1e9, 1e308, 0.5, Number.MAX_SAFE_INTEGER] as const;

/** Any JSON value. */
export function randomJson(random: Random, depth = 4): unknown {
  switch (random.int(depth > 0 ? 7 : 5)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.pick<number>(numbers);
    case 3:
    case 4:
      return random.pick<string>(texts);
    case 5:
      return Array.from({ length: random.int(4) }, () => randomJson(random, depth - 1));
    default:
      return Object.fromEntries(
        Array.from({ length: random.int(4) }, () => [
          random.pick(['id', 'input', 'first', 'type', 'callbackUrl', ...texts]),
          randomJson(random, depth - 1),
        ]),
      );
  }
}

const snippets = [
  '\r\n',
  '\n',
  '\0',
  ':',
  ' ',
  '\t',
  ';',
  ',',
  '"',
  '{',
  '}',
  '[',
  ']',
  '\\',
  '\u00ff',
  '%00',
  '-1',
  '0x',
];

/** Removes, repeats, replaces or inserts up to 4 parts of a text. */
export function mutate(random: Random, text: string): string {
  let result = text;
  for (let count = 1 + random.int(4); count > 0; count -= 1) {
    const start = random.int(result.length + 1);
    const end = Math.min(result.length, start + random.int(12));
    const part = random.pick([
      '',
      random.pick(snippets),
      result.slice(start, end).repeat(2),
      String.fromCharCode(random.int(256)),
      random.pick(snippets).repeat(1 + random.int(500)),
    ]);
    result = result.slice(0, start) + part + result.slice(end);
  }
  return result;
}
