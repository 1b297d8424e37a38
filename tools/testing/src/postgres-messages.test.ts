import { expect, test } from 'vitest';
import { asksIfReady, createMessageReader, isReady } from './postgres-messages.ts';

function message(type: string, ...texts: string[]): Buffer {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const bytes = Buffer.concat([
  message('', 'user', 'ada', ''),
  message('Q', 'commit'),
  message('B', '', 'settle-deliveries+', ''),
  message('S'),
]);

test.each([1, 3, 7, bytes.length])('names the statements of messages that arrive in chunks of %i bytes', (size) => {
  const read = createMessageReader('client');
  const messages = [];
  for (let start = 0; start < bytes.length; start += size) messages.push(...read(bytes.subarray(start, start + size)));
  expect(messages.map(({ statement }) => statement)).toEqual([null, 'commit', 'settle-deliveries', null]);
  expect(messages.map(asksIfReady)).toEqual([false, true, false, true]);
  expect(Buffer.concat(messages.map((each) => each.bytes)).equals(bytes)).toBe(true);
});

test('knows when the server is ready', () => {
  const read = createMessageReader('server');
  const messages = read(Buffer.concat([message('C', 'COMMIT'), message('Z', 'I'), message('B', 'Z')]));
  expect(messages.map(isReady)).toEqual([false, true, false]);
  expect(messages.map(({ statement }) => statement)).toEqual([null, null, null]);
});
