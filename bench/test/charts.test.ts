import { expect, it } from 'vitest';
import { barChart } from '../src/page/bar-chart.ts';
import { charts } from '../src/page/charts.ts';
import { readDocs, readResults } from '../src/page/write-page.ts';

const bar = (label: string, value: number) => ({ label, value, text: String(value), highlighted: label === 'ours' });
const chart = { title: 'Rates', axis: 'Per second.' };

/** The widths of the bars of a color. */
function widthsOf(svg: string, color: string): number[] {
  return [...svg.matchAll(new RegExp(`d="M0,\\d+h(\\d+)v\\d+h-\\d+Z" fill="var\\(--${color}\\)"`, 'g'))].map((match) =>
    Number(match[1]),
  );
}

it('draws bars in proportion, and gives all panels the same scale on request', async () => {
  const panels = [
    { title: 'One', bars: [bar('ours', 300), bar('theirs', 150)] },
    { title: 'Two', bars: [bar('ours', 150)] },
  ];
  const shared = await barChart({ ...chart, shared: true, panels });
  expect(widthsOf(shared, 'ours')).toEqual([180, 90]);
  expect(widthsOf(shared, 'bar')).toEqual([90]);
  expect(widthsOf(await barChart({ ...chart, shared: false, panels }), 'ours')[0]).toBe(180);
});

// `pnpm bench page` writes them.
it.each(Object.entries(await charts(readResults())))(
  'docs/performance/%s is what the results in bench/results produce',
  (name, svg) => {
    expect(readDocs(`performance/${name}`)).toBe(svg);
  },
);
