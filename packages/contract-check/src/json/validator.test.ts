import { expect, test } from 'vitest';
import { readManifest } from '../manifest/manifest.ts';

const read = (limit: string) =>
  readManifest({ file: 'a.json', text: `{\n"limits": {\n"responseBytes": ${limit}\n}\n}` });

test('values with numbers that a double holds are validated as JavaScript numbers', () => {
  expect(read('1.5e3').limits).toEqual({ responseBytes: 1500 });
});

test.each(['9007199254740993', '1e400', '0.1000000000000000055511151231257827'])(
  'rejects %s, which no double holds',
  (limit) => {
    expect(() => read(limit)).toThrow('a.json:3: /limits/responseBytes must be a number that a double holds, not ');
  },
);
