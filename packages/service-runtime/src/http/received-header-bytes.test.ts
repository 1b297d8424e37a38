import { expect, test } from 'vitest';
import { receivedHeaderBytes } from './received-header-bytes.ts';

/** The error of a parser that has read `bytesParsed` bytes of the last packet. */
function overflow(rawPacket: string, bytesParsed: number) {
  return Object.assign(new Error('Header overflow'), { rawPacket: Buffer.from(rawPacket), bytesParsed });
}

const headers = `GET / HTTP/1.1\r\nX: ${'x'.repeat(80)}\r\n\r\n`;

test.each([
  ['the end of the headers', `${headers}the body`, 40, headers.length],
  ['the end of the headers, which the parser has read', `${headers}the body`, headers.length, headers.length],
  ['no end of the headers', headers.slice(0, 90), 90, 90],
])('counts the bytes of a packet with %s', (_, packet, bytesParsed, found) => {
  expect(receivedHeaderBytes(overflow(packet, bytesParsed), packet.length, true)).toBe(found);
});

test('counts the packets before', () => {
  expect(receivedHeaderBytes(overflow('xxx', 3), 1000, true)).toBe(1000);
  expect(receivedHeaderBytes(overflow('xxx\r\n\r\nbody', 3), 1000, true)).toBe(996);
});

test('returns null when the headers begin at an unknown position', () => {
  expect(receivedHeaderBytes(overflow(headers, 40), 1000, false)).toBeNull();
  expect(receivedHeaderBytes(new Error('Header overflow'), 1000, true)).toBeNull();
});
