import { expect, it } from 'vitest';
import { barChart } from './bar-chart.ts';

const bar = (label: string, value: number) => ({ label, value, text: String(value), highlighted: label === 'ours' });
const chart = { title: 'Rates', axis: 'Per second.', shared: false };

/** The tags of a class, without the class. */
function tagsOf(svg: string, className: string): string[] {
  return [...svg.matchAll(new RegExp(`<(\\w+) class="${className}" (.*)`, 'g'))].map((match) => match[2] ?? '');
}

it('draws each bar from the left, in proportion to a round number of the axis', () => {
  const svg = barChart({ ...chart, panels: [{ title: 'All', bars: [bar('ours', 300), bar('theirs', 150)] }] });
  // The axis ends with 300, at 332.
  expect(tagsOf(svg, 'bar ours')).toEqual(['x="134" y="90" width="198" height="17"/>']);
  expect(tagsOf(svg, 'bar')).toEqual(['x="134" y="115" width="99" height="17"/>']);
  expect(tagsOf(svg, 'tick').map((tag) => tag.replace(/.*>(.*)<.*/, '$1'))).toEqual(['0', '100', '200', '300']);
  expect(tagsOf(svg, 'value')).toEqual(['x="338" y="103">300</text>', 'x="239" y="128">150</text>']);
});

it('gives all panels the same scale on request', () => {
  const panels = [
    { title: 'One', bars: [bar('ours', 300)] },
    { title: 'Two', bars: [bar('ours', 150)] },
  ];
  const widths = (shared: boolean) =>
    tagsOf(barChart({ ...chart, shared, panels }), 'bar ours').map((tag) => /width="(\d+)"/.exec(tag)?.[1]);
  expect(widths(true)).toEqual(['198', '99']);
  expect(widths(false)).toEqual(['198', '198']);
});

it('describes the values for readers who do not see the image', () => {
  const svg = barChart({ ...chart, panels: [{ title: 'a < b', bars: [bar('ours', 3), bar('theirs', 2)] }] });
  expect(svg).toContain('<title>Rates. Per second.</title>');
  expect(svg).toContain('<desc>a &lt; b: ours 3, theirs 2.</desc>');
});

it('rejects a label that does not fit', () => {
  const panels = [{ title: 'All', bars: [bar('a label that is much too long', 1)] }];
  expect(() => barChart({ ...chart, panels })).toThrow('Too wide for the chart: a label that is much too long');
});
