import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { findFiles, readText } from '../workspace-files.ts';

// Composing the contracts changed nothing but the first line of each SDL. Remove this file after the next release of them.

test.each([
  [
    'packages/{lender,partner}-schema/versions/*.graphql',
    '3814ca9099cb126c7eb28683832102692973ff8bed492ef65740a05d9cf5d628',
  ],
  [
    'packages/{lender,partner}-schema/versions/*.json',
    '8189c9cabe8bf00d71979092cedd54966e45e068a36a9b213986a0a1b28911fb',
  ],
  [
    'packages/{lender,partner}-schema/src/generated/20*.ts',
    'cde1cd9ed327e0d681fbe44474ec7854e16b97d76e317d2e294aed0f09d6d715',
  ],
  [
    'packages/{lender,partner}-schema/examples/*/*.response.json',
    '500ed403e7016184544f44ab1f0690e0ef7d611a3568bfaf794cc5ef858f356a',
  ],
  ['packages/*/api/**', 'e15c4b4c5d5b4c7b5706bf0aa0348d61144dd9691d5454040f681cc925e6af1f'],
  ['packages/webhook-events/fixtures/**', 'aed7c3b7b0e5a1faa391b2f88403e82537da7c8af0de87aff6e6168715aae4e0'],
  ['docs/reference/**', 'b22ebd8781f608a4556a1349b9ff26eadb5c1123a8e7837280e4461b35ae5ecf'],
])('%s are as they were written by hand', (pattern, expected) => {
  const texts = findFiles(pattern).map((path) => {
    const text = readText(path);
    return [path, path.endsWith('.graphql') ? text.slice(text.indexOf('\n')) : text];
  });
  expect(texts.length).toBeGreaterThan(2);
  expect(hash('sha256', JSON.stringify(texts))).toBe(expected);
});
