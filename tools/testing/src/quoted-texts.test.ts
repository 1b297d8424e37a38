import { expect, test } from 'vitest';
import { partOf, quotedLines, quotingSections, staleQuotes } from './quoted-texts.ts';

const page = `# Page

## First

### A

\`\`\`text
one
two …
\`\`\`

Text.

\`\`\`text
three
\`\`\`

### B

\`\`\`js
four();
\`\`\`

## Second

\`\`\`text
five
\`\`\`
`;

test('reads the quoted lines of each section', () => {
  expect(quotingSections(page, 'First')).toEqual([
    { heading: 'A', quotes: ['one', 'two …', 'three'] },
    { heading: 'B', quotes: [] },
  ]);
  expect(quotedLines(partOf(page, 'Second'))).toEqual(['five']);
  expect(() => partOf(page, 'Third')).toThrow('The page has no part "Third".');
});

test('finds the quotes that no emitted text equals', () => {
  const emitted = ['a (b) c', 'status 200 of x'];
  expect(staleQuotes(['a (b) c', 'status … of x', 'a (b)', 'a .b. c', 'status … of', '… of y'], emitted)).toEqual([
    'a (b)',
    'a .b. c',
    'status … of',
    '… of y',
  ]);
});
