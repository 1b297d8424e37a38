import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readLog, textOf } from './receiver-log.ts';

const delivery = (number: number | string) => `gid://service/WebhookDelivery/${number}`;
const event = (number: number) => `gid://service/WebhookEvent/${number}`;
const body = { id: event(7), data: { b: 1, a: [2] } };

async function chunksOf(file: Blob, maxBytes?: number): Promise<string> {
  let text = '';
  for await (const chunk of textOf(file, maxBytes)) text += chunk;
  return text;
}

describe('a log', () => {
  test('has ids, bodies, and both, with any line breaks', async () => {
    const lines = [delivery(1), `"${delivery(2)}"`, '', JSON.stringify(body), '  ', delivery(1)];
    const both = JSON.stringify({ deliveryId: delivery(3), body: JSON.stringify(body) });
    const log = await readLog([`\uFEFF${[...lines, both].join('\r\n')}`]);
    expect([...log.ids.keys()]).toEqual([delivery(1), delivery(2), event(7), delivery(3)]);
    expect(log).toMatchObject({ lines: 5, repeatedLines: 1, unreadableLines: 0, bodies: 2 });
    expect([...(log.ids.get(delivery(3))?.bodies ?? [])]).toEqual(
      [...(log.ids.get(event(7))?.bodies.keys() ?? [])].map((digest) => [digest, 7]),
    );
  });

  test('has the same body in any order of members, and keeps each different one', async () => {
    const other = { data: { a: [2], b: 1 }, id: event(7) };
    const altered = { ...body, data: null };
    const log = await readLog([[body, other, altered].map((each) => JSON.stringify(each)).join('\n')]);
    expect([...(log.ids.get(event(7))?.bodies.values() ?? [])]).toEqual([1, 3]);
    expect(log.repeatedLines).toBe(2);
  });

  test('is the same wherever its chunks end', async () => {
    const text = `${delivery(1)}\r\n${JSON.stringify(body)}\n${delivery(2)}`;
    expect(await readLog(text)).toEqual(await readLog([text]));
  });

  test.each([
    ['delivery 12', '`delivery 12` is not the id of a delivery or an event'],
    [delivery('0'), 'is not the id of'],
    [delivery('12345678901234567890'), 'is not the id of'],
    [`${delivery(1)}?x`, 'is not the id of'],
    ['gid://service/Order/1', 'is not the id of'],
    ['{"id":', 'not a JSON object'],
    ['{"__proto__":{"id":"x"}}', 'neither `deliveryId` nor `id`'],
    [`{"id":"${event(1)}","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'nested too deeply'],
  ])('counts the lines that cannot be read: %.60s', async (line, problem) => {
    const log = await readLog([`${delivery(1)}\n${line}\n${line}`]);
    expect(log).toMatchObject({ lines: 3, unreadableLines: 2 });
    expect(log.firstProblem).toMatch(/^Line 2: /);
    expect(log.firstProblem).toContain(problem);
  });

  test.each([
    ['', 'The log is empty.'],
    [' \r\n\n', 'The log is empty.'],
    ['[{"id":1}]', 'The log names no delivery and no event. Line 1: '],
    ['x'.repeat(2_000_001), 'Line 1 is longer than 2 MB.'],
  ])('is refused without anything to compare: %.20s', async (text, message) => {
    await expect(readLog([text])).rejects.toThrow(message);
  });
});

const withName = (file: Buffer, name: string) => {
  const header = Buffer.from(file.subarray(0, 10));
  header[3] = 8;
  return Buffer.concat([header, Buffer.from(`${name}\0`, 'latin1'), file.subarray(10)]);
};

describe('a file', () => {
  const text = `${delivery(1)}\n{"name":"Zürich 𝄞"}`;
  const encoded = Buffer.from(text);

  test.each([
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${text}`)],
    ['UTF-16', Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['UTF-16, big endian', Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
    ['gzip', gzipSync(text)],
    [
      'two joined gzip files, within a character',
      Buffer.concat([encoded.subarray(0, -7), encoded.subarray(-7)].map((part) => gzipSync(part))),
    ],
    ['gzip whose header looks like two files', withName(gzipSync(text), '\x1f\x8b\x08\x01')],
  ])('is read from %s', async (_, file) => {
    expect(await chunksOf(new Blob([file]))).toBe(text);
  });

  test.each([
    ['Latin-1', Buffer.from('Zürich', 'latin1'), 'The file is not text in UTF-8.'],
    ['Latin-1, with gzip', gzipSync(Buffer.from('Zürich', 'latin1')), 'The file is not text in UTF-8.'],
    ['half a character', Buffer.from(text).subarray(0, -3), 'The file is not text in UTF-8.'],
    ['half of a gzip file', gzipSync(text).subarray(0, -9), 'The compressed file is damaged.'],
    ['too many bytes', Buffer.alloc(1_000_001), 'The log has more than 1 MB. Split it by time'],
    [
      'too many bytes in a small file',
      gzipSync(Buffer.alloc(5_000_000)),
      'The log has more than 1 MB. Split it by time',
    ],
  ])('is refused with %s', async (_, bytes, message) => {
    await expect(chunksOf(new Blob([bytes]), 1_000_000)).rejects.toThrow(message);
  });
});
