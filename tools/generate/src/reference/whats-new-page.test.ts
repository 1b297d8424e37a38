import { expect, test } from 'vitest';
import { readChanges } from './whats-new-page.ts';

test('reads what releases add and break, without corrections and dependencies', () => {
  const changelog = `# @deedwire/shop

## 2.0.0

### Major Changes

- 0a1b2c3: \`order.paid\` has no \`total\`. Read \`amount\`.

  - A detail

### Patch Changes

- 1234567: A correction.
- Updated dependencies [1234567]
  - @deedwire/core@1.0.0

## 1.1.0

### Minor Changes

- 89abcde: Orders can be refunded: \`refundOrder\` does it
- Orders have a note

## 1.0.0

### Major Changes

- The first release.
`;
  expect(readChanges(changelog)).toEqual([
    { release: '2.0.0', isBreaking: true, summary: '`order.paid` has no `total`.' },
    { release: '1.1.0', isBreaking: false, summary: 'Orders can be refunded.' },
    { release: '1.1.0', isBreaking: false, summary: 'Orders have a note' },
    { release: '1.0.0', isBreaking: false, summary: 'The first release.' },
  ]);
});
