import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readLines } from './read-input.ts';

async function linesOf(...chunks: readonly Uint8Array[]): Promise<string[]> {
  const stdin = (async function* () {
    yield* chunks;
  })();
  const lines: string[] = [];
  for await (const line of readLines({ stdin }, '-')) lines.push(line);
  return lines;
}

test.each<[string, Buffer]>([
  ['plain', Buffer.from('one\nzwölf\n')],
  ['compressed', gzipSync('one\nzwölf\n')],
])('reads %s input, wherever a pipe splits it', async (_, content) => {
  for (let split = 0; split <= content.length; split += 1)
    expect(await linesOf(content.subarray(0, split), content.subarray(split))).toEqual(['one', 'zwölf', '']);
});

test.each([[], [''], ['x'], ['\u001F']])('reads input of at most one byte: %j', async (...texts) => {
  expect(await linesOf(...texts.map((text) => Buffer.from(text)))).toEqual([texts.join('')]);
});
