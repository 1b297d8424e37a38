import { expect, test } from 'vitest';
import { judgeOperations } from '../support/judge-operations.ts';

test.each([1, 2, 3, 4])('no verdict is too small for 12,500 operations: part %i', (part) => {
  const { tooSmall, majors, ...counts } = judgeOperations(part * 1_000_000, 12_500);
  const rules = Array.from(majors, ([rule, { pairs, unbroken }]) => `${rule} ${unbroken} of ${pairs}`);
  process.stdout.write(
    `Part ${part}: ${JSON.stringify(counts)}, ${tooSmall.length} verdicts too small. ` +
      `Major although no operation broke: ${rules.toSorted().join(', ')}.\n`,
  );
  expect(tooSmall).toEqual([]);
  expect(counts.operations).toBeGreaterThanOrEqual(12_500);
});
