import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCapturedRequest } from './captured-request.ts';
import { splitCapture } from './split-capture.ts';

/** The bodies and times of the requests in a capture. */
function read(capture: string): unknown[] {
  return splitCapture(Buffer.from(capture)).map(({ bytes, receivedAt }) => [
    Buffer.from(readCapturedRequest(bytes, null).request?.body ?? []).toString(),
    receivedAt?.toISOString() ?? null,
  ]);
}

const headers = [{ name: 'webhook-id', value: 'delivery_1' }];
const time = '2026-11-03T09:30:01.000Z';

test('reads the POST requests of a HAR file, with their times', () => {
  const entry = (method: string, postData: object) => ({
    startedDateTime: time,
    request: { method, headers, postData },
  });
  const entries = [
    entry('POST', { text: '{"a":"é"}' }),
    entry('GET', {}),
    entry('POST', { text: 'eyJiIjoxfQ==', encoding: 'base64' }),
  ];
  expect(read(JSON.stringify({ log: { entries } }, null, 2))).toEqual([
    ['{"a":"é"}', time],
    ['{"b":1}', time],
  ]);
});

const line = (text: string, more: object): string => JSON.stringify({ headers, body: text, ...more });

test('reads each line of NDJSON', () => {
  expect(read(`\uFEFF${line('1', { receivedAt: time })}\r\n\n${line('2', { receivedAt: 'soon' })}\n`)).toEqual([
    ['1', time],
    ['2', null],
  ]);
});

test('leaves any other capture as it is', () => {
  expect(read('webhook-id: 1\n\n{"a":1}\n{"b":2}')).toEqual([['{"a":1}\n{"b":2}', null]]);
  expect(read(JSON.stringify({ headers, body: '1', receivedAt: time }, null, 2))).toEqual([['1', time]]);
});

test('never throws', () => {
  const har = fc.json().map((entries) => `{"log":{"entries":[${entries},{"request":${entries}}]}}`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), har, fc.json()), (text) => {
      expect(Array.isArray(splitCapture(Buffer.from(text)))).toBe(true);
    }),
  );
});
